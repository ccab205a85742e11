"""Bodies as they arrive: bounded in bytes and in time, and never unpacked."""

import asyncio
from typing import Any

import pytest

from netwright.apps.server.refusal import RefusalError
from netwright.apps.server.server_config import ServerConfig

CONFIG = ServerConfig(max_body=0.001, timeout=0.05)


def read(left: list[bytes | None], **headers: str) -> bytes:
    """The body that comes in these parts, which are taken away; None: nothing more comes."""
    pytest.importorskip("starlette")
    from starlette.requests import Request

    from netwright.apps.server.body import read_body

    async def receive() -> Any:
        part = left.pop(0) if left else b""
        if part is None:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    given = [(name.replace("_", "-").encode(), one.encode()) for name, one in headers.items()]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": given}
    return asyncio.run(read_body(Request(scope, receive), CONFIG))


def status_of(parts: list[bytes | None], **headers: str) -> tuple[int, str]:
    with pytest.raises(RefusalError) as refusal:
        read(parts, **headers)
    return refusal.value.status, str(refusal.value)


def test_a_body_is_all_its_parts() -> None:
    assert read([b"one ", b"", b"two"]) == b"one two"
    assert read([b"x" * 1000], content_length="1000") == b"x" * 1000
    assert read([b""]) == b""


def test_a_body_that_is_too_long_is_refused_whatever_it_declares() -> None:
    assert status_of([b"x" * 600, b"x" * 600])[0] == 413
    assert status_of([b"x" * 600, b"x" * 600], content_length="5")[0] == 413
    status, sentence = status_of([None], content_length="1001")  # before any of it is there
    assert (status, sentence) == (
        413,
        "a body may have at most 0.001 MB; send the rows in parts",
    )


def test_the_rest_of_a_refused_body_is_passed_over_up_to_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who is still sending would not read the refusal."""
    left: list[bytes | None] = [b"x" * 600] * 10
    assert status_of(left)[0] == 413
    assert left == []
    pytest.importorskip("starlette")
    monkeypatch.setattr("netwright.apps.server.body.MOST_PASSED_OVER", 1200)
    left = [b"x" * 600] * 10
    assert status_of(left)[0] == 413
    assert len(left) == 6


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    status, sentence = status_of([b"x", None])
    assert (status, sentence) == (408, "the body did not arrive within 0.05 seconds")


def test_packed_bodies_are_refused() -> None:
    status, sentence = status_of([b"x"], content_encoding="gzip")
    assert (status, sentence) == (
        415,
        "bodies must not be compressed, got Content-Encoding 'gzip'",
    )


def test_a_media_type_has_no_parameters() -> None:
    pytest.importorskip("starlette")
    from starlette.requests import Request

    from netwright.apps.server.body import media_type

    for given, wanted in {
        "Text/CSV; charset=utf-8": "text/csv",
        "": "",
        " image/png": "image/png",
    }.items():
        scope = {"type": "http", "headers": [(b"content-type", given.encode())]}
        assert media_type(Request(scope)) == wanted
