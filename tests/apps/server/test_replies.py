"""Replies of all servers."""

import json

import pytest

pytest.importorskip("starlette")

from starlette.requests import ClientDisconnect

from netwright.apps.server.replies import as_json, refused
from netwright.core.errors import DataError


def test_numbers_that_json_lacks_are_null() -> None:
    reply = as_json({"a": [float("nan"), {"b": float("inf")}], "c": 1.5})
    assert json.loads(bytes(reply.body)) == {"a": [None, {"b": None}], "c": 1.5}


def test_an_error_is_a_status_and_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(DataError("no such row")).body == b'{"error":"no such row"}'
    assert refused(ClientDisconnect()).status_code == 400
    assert refused(MemoryError()).status_code == 503
    assert refused(ZeroDivisionError("secret")).status_code == 500
    assert b"secret" not in bytes(refused(ZeroDivisionError("secret")).body)
    assert "secret" in capsys.readouterr().err
