"""Whom the server hangs up on: who sends no head in time, and who does not read his answer."""

import asyncio
import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from netwright.apps.server.server_config import ServerConfig

pytest.importorskip("uvicorn")


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

    def write(self, data: Any) -> None:
        """Take it."""

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        """Wait until all is read."""

    def get_write_buffer_size(self) -> int:
        return self.held

    def abort(self) -> None:
        self.aborted.set()


def test_the_end_of_an_answer_is_waited_for_no_longer_than_an_answer() -> None:
    from uvicorn.server import ServerState

    from netwright.apps.server.hasty_protocol import HastyProtocol
    from netwright.apps.server.running import make_server

    async def answered(held: int) -> tuple[HastyProtocol, Unread]:
        config = make_server(greet, ServerConfig(timeout=0.01)).config
        config.load()
        protocol = config.http_protocol_class(config, ServerState(), {})  # type: ignore[call-arg]
        assert isinstance(protocol, HastyProtocol)
        transport = Unread(held)
        protocol.connection_made(transport)
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
