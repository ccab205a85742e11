"""A body and an answer in one piece are those that messages would have carried."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("httptools")

from netwright.apps.server.whole_messages import as_lines, whole_messages
from tests.apps.server.test_hasty_protocol import Unread, connected

HEADERS = ((b"content-type", b"text/plain"),)
HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"


class Echo:
    """An app that says what it got, in one piece where it can."""

    def __init__(self, *, tries: bool = True) -> None:
        self.tries, self.were_whole = tries, (False, False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer."""
        whole = whole_messages(scope) if self.tries else None
        body = None if whole is None else whole.body()
        was_there, more = body is not None, body is None
        got = body or b""
        while more:
            message = await receive()
            got, more = got + message["body"], message["more_body"]
        self.were_whole = was_there, whole is not None and whole.send(as_lines(HEADERS), got)
        if not self.were_whole[1]:
            length = (b"content-length", b"%d" % len(got))
            start = {"type": "http.response.start", "status": 200, "headers": [length, *HEADERS]}
            await send(start)
            await send({"type": "http.response.body", "body": got})


def written(app: Echo, *parts: bytes) -> tuple[bytes, bool]:
    """What was sent back, and whether the connection was closed."""

    async def ask() -> tuple[bytes, bool]:
        transport = Unread(held=0)
        protocol = connected(transport, app=app)
        for part in parts:
            protocol.data_received(part)
            await asyncio.sleep(0)
        while protocol.tasks:
            await asyncio.gather(*protocol.tasks)
        protocol.connection_lost(None)
        return transport.written, transport.is_closed

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("parts", "were_whole"),
    [
        ((HEAD + b"\r\nhello",), (True, True)),
        ((HEAD + b"\r\nhel", b"lo"), (False, True)),  # the app is there before the body
        ((HEAD + b"Connection: close\r\n\r\nhello",), (True, False)),
        ((HEAD + b"Expect: 100-continue\r\n\r\nhello",), (False, True)),
        ((HEAD.replace(b"1.1", b"1.0") + b"\r\nhello",), (True, False)),
        ((HEAD.replace(b"POST", b"HEAD") + b"\r\nhello",), (True, False)),
        (((HEAD + b"\r\nhello") * 3,), (True, True)),
    ],
)
def test_one_piece_says_what_messages_say(
    parts: tuple[bytes, ...], were_whole: tuple[bool, bool]
) -> None:
    app = Echo()
    said = written(app, *parts)
    assert app.were_whole == were_whole
    assert said == written(Echo(tries=False), *parts)
    assert b"\r\n\r\nhello" in said[0] or b"HEAD" in parts[0]


def test_an_app_that_is_asked_by_another_server_finds_nothing() -> None:
    assert whole_messages({"type": "http"}) is None
    assert whole_messages({"type": "http", "extensions": {}}) is None


def test_nothing_is_sent_to_who_is_gone() -> None:
    async def leave(scope: Any, receive: Any, send: Any) -> None:
        protocols[0].connection_lost(None)
        whole = whole_messages(scope)
        assert whole is not None and whole.body() is None
        told.append(whole.send(b"", b"hello"))

    async def ask() -> None:
        protocols.append(connected(transport, app=leave))
        protocols[0].data_received(HEAD + b"\r\nhello")
        await asyncio.gather(*protocols[0].tasks)

    protocols: list[Any] = []
    told: list[bool] = []
    transport = Unread(held=0)
    asyncio.run(ask())
    assert (told, transport.written) == ([False], b"")
