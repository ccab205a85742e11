"""`netwright env`: versions, device and folders."""

import json

import pytest
import torch

from tests.apps.cli.conftest import Type


def test_tells_versions_and_folders(type_in: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_DATA", "/somewhere:/else")
    monkeypatch.setenv("NETWRIGHT_HOME", "/home-of-data")
    shown = json.loads(type_in("env", "--json").out)
    assert shown["packages"]["torch"] == torch.__version__
    assert shown["data"] == ["/somewhere", "/else"]
    assert shown["cache"].startswith("/home-of-data")
    assert f"torch          {torch.__version__}" in type_in("env").out
