"""The process: where it listens, whom it hangs up on, and that it ends without losing a request."""

import asyncio
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

import netwright as nw
from netwright.apps.server.server_config import ServerConfig
from netwright.core.errors import ConfigError
from tests.repetition import slow_but

pytest.importorskip("uvicorn")


def test_only_this_machine_is_loopback() -> None:
    from netwright.apps.server.running import is_any, is_loopback

    assert [is_loopback(host) for host in ("127.0.0.1", "127.8.8.8", "::1")] == [True] * 3
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "10.0.0.1", "8.8.8.8")] == [False] * 4
    assert [is_any(host) for host in ("0.0.0.0", "::", "127.0.0.1")] == [True, True, False]
    with pytest.raises(ConfigError, match="--host must be a name or an address, got 'no host'"):
        is_loopback("no host")


def test_a_port_that_is_taken_is_refused_by_its_number() -> None:
    from netwright.apps.server.running import listen

    with listen("127.0.0.1", 0) as first:
        first.listen()
        assert first.proto == socket.IPPROTO_TCP  # or else asyncio waits before it sends
        port = first.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port}: Address"):
            listen("127.0.0.1", port)
    with pytest.raises(ConfigError, match="port 70000"):
        listen("127.0.0.1", 70000)


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
    monkeypatch.setattr("netwright.apps.server.running.HEAD_SECONDS", 2.0)  # for a busy machine
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
    monkeypatch.setattr("netwright.apps.server.running.HEAD_SECONDS", 0.2)
    with greeting() as port:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for _ in range(3):
            client.request("GET", "/")
            assert client.getresponse().read() == b"hello"
            threading.Event().wait(0.3)  # longer than a head may take
        client.close()


def read_address(shown: IO[str]) -> tuple[str, int]:
    """Where the server says that it listens."""
    for line in shown:
        found = re.search(r"serving on http://([\d.]+):(\d+)", line)
        if found:
            return found[1], int(found[2])
    raise AssertionError("the server did not start")


@pytest.mark.parametrize("number", slow_but([signal.SIGTERM], [signal.SIGTERM, signal.SIGINT]))
def test_a_signal_ends_it_when_all_that_was_accepted_is_answered(
    folders: dict[str, Path], tmp_path: Path, number: signal.Signals
) -> None:
    go = tmp_path / "go"
    words = ["serve", f"things={folders['things']}", "--port", "0", "--max-batch", "4"]
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.apps.server.held_server", str(go), *words],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    place = read_address(server.stderr)
    rows = [{"size": size, "colour": "red"} for size in range(12)]

    def asked(method: str, path: str, body: str = "") -> bytes:
        with closing(http.client.HTTPConnection(*place, timeout=120)) as client:
            client.request(method, path, body, {"Content-Type": "application/json"})
            return client.getresponse().read()

    def ask(row: dict[str, Any]) -> list[str]:
        body = json.dumps({"rows": [row]})
        answers = json.loads(asked("POST", "/runs/things/predict", body))["answers"]
        return [one["kind"] for one in answers]

    def received() -> float:
        """Requests that wait, and those in the model's hands."""
        measured = asked("GET", "/metrics").decode()
        names = ("netwright_waiting_requests", "netwright_batch_rows_sum")
        found = [re.search(rf"{name}\{{.*\}} ([\d.]+)", measured) for name in names]
        return sum(float(number[1]) for number in found if number)

    with ThreadPoolExecutor(len(rows)) as pool:
        answers = [pool.submit(ask, row) for row in rows]
        while received() < len(rows):
            threading.Event().wait(0.01)
        server.send_signal(number)
        threading.Event().wait(0.5)  # its door is closed by now
        assert server.poll() is None
        go.touch()
        said = [answer.result() for answer in answers]
    wanted = nw.open_run(folders["things"]).predict(rows).tolist()
    assert said == [[one] for one in wanted]
    assert server.wait(60) == 128 + number
    server.stderr.close()
    with pytest.raises(OSError):
        socket.create_connection(place, timeout=5)


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

    from netwright.apps.server.running import HastyProtocol, make_server

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
