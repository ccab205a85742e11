"""A real web server on the loopback whose paths answer as a test tells them to."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from netwright.data.files.download import RemoteFile

CONTENT = bytes(range(256)) * 1000

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Server:
    """What the server answers, by path, and what it was asked."""

    address: str
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def file(self, *paths: str, content: bytes = CONTENT) -> RemoteFile:
        return RemoteFile(
            name="file.gz",
            addresses=tuple(self.address + path for path in paths),
            size=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
        )


@contextmanager
def serving() -> Iterator[Server]:
    """A server on a free port of the loopback, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            state.answers[self.path](self)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.daemon_threads = True
        state = Server(address=f"http://127.0.0.1:{running.server_port}")
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            state.stopped.set()
            running.shutdown()
            thread.join()


def sends(content: bytes, length: int | None = None) -> Answer:
    """Answer with this content; `length` is what the header claims."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(content) if length is None else length))
        request.end_headers()
        request.wfile.write(content)

    return answer


def redirects(target: str, status: int = 302) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Location", target)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return answer


def lacks_a_length(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.end_headers()
    request.wfile.write(CONTENT[:100])


def pours(request: BaseHTTPRequestHandler) -> None:
    """An answer without an end."""
    request.send_response(200)
    request.end_headers()
    try:
        while True:
            request.wfile.write(CONTENT)
    except OSError:
        pass  # the other side has had enough


def is_missing(request: BaseHTTPRequestHandler) -> None:
    request.send_error(404)


def goes_nowhere(request: BaseHTTPRequestHandler) -> None:
    request.send_response(302)
    request.send_header("Content-Length", "0")
    request.end_headers()
