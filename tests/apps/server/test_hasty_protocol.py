"""Whom the server hangs up on: who sends no head in time, and who does not read his answer."""

import asyncio
import http.client
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from netwright.apps.server.server_config import ServerConfig

pytest.importorskip("httptools")


async def greet(scope: Any, receive: Any, send: Any) -> None:
    """An app that says hello."""
    if scope["type"] == "http":
        headers = [(b"content-length", b"5")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"hello"})


@contextmanager
def greeting(app: Any = greet, config: ServerConfig | None = None) -> Iterator[int]:
    """A server of that app in a thread; its port."""
    from netwright.apps.server.running import listen, make_server, run_server

    server, begun = make_server(app, config or ServerConfig()), threading.Event()
    with listen("127.0.0.1", 0) as opened:
        thread = threading.Thread(target=run_server, args=(server, opened, begun.set))
        thread.start()
        assert begun.wait(60)
        try:
            yield opened.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def test_who_sends_no_head_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 2.0  # for a busy machine
    monkeypatch.setattr("netwright.apps.server.hasty_protocol.HEAD_SECONDS", seconds)
    monkeypatch.setattr("netwright.apps.server.running.KEEP_ALIVE", 1)
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with greeting() as port:
        for begun in (b"", b"GET / HT", request + b"GET / HTTP/1.1\r\nHo", b"GET / HTTP/1.1\r\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
                client.sendall(begun)
                got = b""
                try:
                    while part := client.recv(4096):
                        got += part
                except ConnectionResetError:
                    pass
                assert got.count(b"hello") == begun.count(b"\r\n\r\n")


def test_a_connection_may_idle_between_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.apps.server.hasty_protocol.HEAD_SECONDS", 0.2)
    with greeting() as port:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for _ in range(3):
            client.request("GET", "/")
            assert client.getresponse().read() == b"hello"
            threading.Event().wait(0.3)  # longer than a head may take
        client.close()


class Unread(asyncio.Transport):
    """A transport that holds so many bytes that nobody reads."""

    def __init__(self, held: int) -> None:
        super().__init__()
        self.held, self.aborted = held, asyncio.Event()
        self.written, self.is_closed = b"", False

    def write(self, data: Any) -> None:
        """Take it."""
        if not self.is_closed:
            self.written += data

    def pause_reading(self) -> None:
        """Let the rest wait."""

    def resume_reading(self) -> None:
        """Go on."""

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        """Wait until all is read."""
        self.is_closed = True

    def get_write_buffer_size(self) -> int:
        return self.held

    def abort(self) -> None:
        self.aborted.set()


def connected(transport: Unread, timeout: float = 30.0, app: Any = greet) -> Any:
    """A connection of a server."""
    from uvicorn.server import ServerState

    from netwright.apps.server.hasty_protocol import HastyProtocol
    from netwright.apps.server.running import make_server

    config = make_server(app, ServerConfig(timeout=timeout)).config
    config.load()
    protocol = config.http_protocol_class(config, ServerState(), {})  # type: ignore[call-arg]
    assert isinstance(protocol, HastyProtocol)
    protocol.connection_made(transport)
    return protocol


def sent(*parts: bytes) -> tuple[Any, bool]:
    """The connection on which these arrived, and whether it was hung up on at the last of them."""

    async def send() -> tuple[Any, bool]:
        transport = Unread(held=0)
        protocol = connected(transport)
        for part in parts:
            assert not transport.is_closed
            protocol.data_received(part)
        while protocol.tasks:
            await asyncio.gather(*protocol.tasks)
        was_closed = transport.is_closed
        protocol.connection_lost(None)
        return protocol, was_closed

    return asyncio.run(send())


REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"


@pytest.mark.parametrize(
    "begun", [b"GET / HTTP/1.1\r\nX: ", b"GET /", b"GET / HTTP/1.1\r\nX", CHUNKED + b"0\r\nX: "]
)
def test_a_head_and_what_stands_behind_a_body_have_a_bound(begun: bytes) -> None:
    from netwright.apps.server.hasty_protocol import MOST_HEAD

    part = b"x" * (MOST_HEAD // 2)
    assert not sent(begun, part)[1]
    assert sent(begun, part, part + b"x")[1]


def test_a_body_has_no_bound_here() -> None:
    assert not sent(CHUNKED, *[b"10000\r\n" + b"x" * 2**16 + b"\r\n"] * 3, b"0\r\n\r\n")[1]


def test_a_header_behind_a_body_lets_nobody_in() -> None:
    protocol, _ = sent(CHUNKED + b"0\r\nAuthorization: Bearer x\r\n\r\n")
    assert [name for name, _ in protocol.scope["headers"]] == [b"host", b"transfer-encoding"]


def test_a_request_that_offers_another_protocol_keeps_its_body() -> None:
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    head, body = CHUNKED.split(b"\r\n\r\n")
    parts = (head + b"\r\n" + offer + b"\r\n" + body[:2], body[2:] + b"0\r\n\r\n")
    protocol, was_closed = sent(*parts)
    assert (bytes(protocol.cycle.body), was_closed) == (b"x", False)
    assert b"upgrade" not in dict(protocol.scope["headers"])


def test_who_offers_another_protocol_with_his_last_request_is_answered() -> None:
    for version, connection in ((b"1.1", b"close, Upgrade"), (b"1.0", b"Upgrade")):
        offer = b"Connection: " + connection + b"\r\nUpgrade: h2c\r\nContent-Length: 1\r\n\r\n"
        protocol, was_closed = sent(b"POST / HTTP/" + version + b"\r\nHost: a\r\n" + offer, b"x")
        assert (bytes(protocol.cycle.body), was_closed) == (b"x", True)
        assert protocol.transport.written.endswith(b"\r\n\r\nhello")


def test_requests_ahead_of_their_answers_are_bounded() -> None:
    from netwright.apps.server.hasty_protocol import MOST_AHEAD

    assert not sent(REQUEST * (MOST_AHEAD + 1))[1]  # the first does not wait
    for parts in ((REQUEST * 99,), (REQUEST * (MOST_AHEAD + 1), REQUEST)):
        protocol, was_closed = sent(*parts)
        assert was_closed and protocol.transport.written.count(b"hello") == MOST_AHEAD + 1


@pytest.mark.parametrize(
    ("parts", "statuses"),
    [
        ((b"\0\r\n\r\n",), [b"400"]),
        ((REQUEST + b"\0\r\n\r\n",), [b"200"]),
        ((REQUEST, b"\0\r\n\r\n", REQUEST), [b"200"]),
        ((REQUEST + b"GET / HTTP/1.1\r\nX: ", b"x" * 2**17), [b"200"]),
        ((CHUNKED + b"no\r\n",), [b"400"]),
        ((REQUEST + CHUNKED + b"no\r\n",), [b"200", b"400"]),
    ],
)
def test_bad_bytes_end_a_connection_after_the_answers_to_what_came_before(
    parts: tuple[bytes, ...], statuses: list[bytes]
) -> None:
    protocol, was_closed = sent(*parts)
    assert was_closed
    assert re.findall(rb"HTTP/1\.1 (\d+)", protocol.transport.written) == statuses


def test_no_refusal_is_written_into_an_answer() -> None:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"hello", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass

    async def ask() -> None:
        transport = Unread(held=0)
        protocol = connected(transport, app=answer)
        protocol.data_received(CHUNKED)
        await asyncio.sleep(0)
        assert transport.written.endswith(b"\r\n5\r\nhello\r\n")
        protocol.data_received(b"no\r\n")
        assert transport.is_closed and b"400" not in transport.written
        protocol.connection_lost(None)
        await asyncio.gather(*protocol.tasks)

    asyncio.run(ask())


class Counted(Unread):
    """A transport that keeps what is written, write by write."""

    def __init__(self) -> None:
        super().__init__(held=0)
        self.parts: list[bytes] = []

    def write(self, data: Any) -> None:
        """Take it."""
        self.parts.append(bytes(data))


async def written(answer: Any, request: bytes = REQUEST) -> tuple[list[bytes], bool]:
    """What leaves for one request, write by write, and whether the connection was closed then."""
    transport = Counted()
    protocol = connected(transport, app=answer)
    protocol.data_received(request)
    await asyncio.gather(*protocol.tasks)
    was_closed = transport.is_closed
    protocol.connection_lost(None)
    return transport.parts, was_closed


def test_an_answer_of_known_length_leaves_whole() -> None:
    parts, _ = asyncio.run(written(greet))
    assert len(parts) == 1
    assert parts[0].startswith(b"HTTP/1.1 200 OK\r\n") and parts[0].endswith(b"\r\n\r\nhello")
    parts, was_closed = asyncio.run(written(greet, b"GET / HTTP/1.0\r\nHost: a\r\n\r\n"))
    assert was_closed and parts[0].endswith(b"hello")


def test_the_head_of_an_answer_to_head_leaves_alone() -> None:
    parts, _ = asyncio.run(written(greet, b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"))
    assert len(parts) == 1 and parts[0].endswith(b"content-length: 5\r\n\r\n")


def test_a_head_leaves_at_once_where_the_end_is_not_known() -> None:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for more in (True, False):
            await send({"type": "http.response.body", "body": b"hello", "more_body": more})

    parts, _ = asyncio.run(written(answer))
    assert parts[0].endswith(b"transfer-encoding: chunked\r\n\r\n")
    assert parts[1:] == [b"5\r\nhello\r\n", b"5\r\nhello\r\n0\r\n\r\n"]


def test_a_head_behind_which_the_app_fails_leaves_before_the_connection_ends() -> None:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"5")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        raise ValueError

    parts, was_closed = asyncio.run(written(answer))
    assert was_closed
    assert len(parts) == 1 and parts[0].startswith(b"HTTP/1.1 200 OK")


def test_who_waits_for_leave_to_send_a_body_gets_it_at_once() -> None:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await greet(scope, receive, send)

    begun = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n"
    parts, _ = asyncio.run(written(answer, begun + b"x"))
    assert parts[0] == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert parts[1].endswith(b"hello") and len(parts) == 2


def test_the_end_of_an_answer_is_waited_for_no_longer_than_an_answer() -> None:
    async def answered(held: int) -> tuple[Any, Unread]:
        transport = Unread(held)
        protocol = connected(transport, timeout=0.01)
        protocol.data_received(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await asyncio.gather(*protocol.tasks)
        assert protocol.cycle.response_complete
        return protocol, transport

    async def ask() -> None:
        protocol, transport = await answered(held=9)
        await asyncio.wait_for(transport.aborted.wait(), 60)
        protocol.connection_lost(None)
        protocol, transport = await answered(held=0)
        assert protocol._unread is None
        protocol.pause_writing()
        protocol.resume_writing()  # all is read
        assert protocol._unread is None
        transport.held = 5
        protocol.resume_writing()  # and here five bytes are not
        await asyncio.wait_for(transport.aborted.wait(), 60)
        protocol.connection_lost(None)
        assert protocol._unread is None

    asyncio.run(ask())


def test_who_reads_no_answer_is_hung_up_on() -> None:
    is_over = threading.Event()

    async def say_much(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for more in (True, False):  # each part is more than sockets hold
                await send({"type": "http.response.body", "body": bytes(2**25), "more_body": more})
            is_over.set()

    with (
        greeting(say_much, ServerConfig(timeout=0.1)) as port,
        socket.create_connection(("127.0.0.1", port), timeout=60) as client,
    ):
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert is_over.wait(60)  # the second part waits for the reader, or for nobody any more
