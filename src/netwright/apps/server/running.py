"""The server as a process: where it listens, how patient it is, and how it ends.

SIGTERM and Ctrl-C close the door for new connections; what has been accepted is answered before the
process ends. A second Ctrl-C ends it at once.
"""

import asyncio
import ipaddress
import logging
import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from netwright.apps.server.guard import App
from netwright.apps.server.server_config import HEAD_SECONDS, ServerConfig
from netwright.core.errors import ConfigError
from netwright.core.terminal.interrupts import EXIT_CODES

BACKLOG = 2048
MOST_CONNECTIONS = 4096
OWN_FILES = 256  # that are open beside connections
KEEP_ALIVE = 15  # seconds that a connection may idle between two requests
GRACE = 5  # seconds beyond the time that a request may take


def is_loopback(host: str) -> bool:
    """Whether all addresses of a host are this machine's own."""
    return all(ipaddress.ip_address(address).is_loopback for address in _addresses(host))


def is_any(host: str) -> bool:
    """Whether a host stands for all addresses of this machine."""
    return any(ipaddress.ip_address(address).is_unspecified for address in _addresses(host))


def _addresses(host: str) -> list[str]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ConfigError(f"--host must be a name or an address, got {host!r}") from None
    return [str(address[0]).partition("%")[0] for *_, address in found]


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; one that is taken is refused by its number."""
    family = socket.AF_INET6 if ":" in _addresses(host)[0] else socket.AF_INET
    # By name of the protocol: asyncio sends small answers at once on such sockets alone.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
    except (OSError, OverflowError) as error:
        opened.close()
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"cannot listen on {host}, port {port}: {why}") from None
    return opened


def raise_file_limit() -> None:
    """Let this process hold as many connections as it allows, where the system lets it.

    Each is an open file, of which a process may usually have 1,024 unless it asks for more.
    """
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + OWN_FILES
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class HastyProtocol(H11Protocol):
    """HTTP for clients that send a head and read their answer in time; others are hung up on.

    uvicorn itself waits for both for ever, and a few thousand such clients are all it can hold.
    """

    answer_seconds = 30.0  # in which an answer has to be read
    _alarm: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Set the alarm for the first head."""
        super().connection_made(transport)
        self._set_alarm()

    def data_received(self, data: bytes) -> None:
        """Switch the alarm off when a head is there; set it when another one begins."""
        if not self.transport.get_write_buffer_size():
            self._stop_unread()
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_alarm()
        elif self._alarm is None:
            self._set_alarm()

    def on_response_complete(self) -> None:
        """Leave the connection to uvicorn's own alarm until something arrives.

        That one closes a connection when all is sent, which it never is if nobody reads.
        """
        super().on_response_complete()
        self._stop_alarm()
        if self.transport.get_write_buffer_size():
            self._await_reader()

    def pause_writing(self) -> None:
        """Wait for the reader of an answer that is longer than what is held for him."""
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        """He has read most of it; what is left of a whole answer he has to read, too."""
        self._stop_unread()
        if self.cycle.response_complete and self.transport.get_write_buffer_size():
            self._await_reader()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave nothing behind."""
        self._stop_alarm()
        self._stop_unread()
        super().connection_lost(exc)

    def _set_alarm(self) -> None:
        self._alarm = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _stop_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _await_reader(self) -> None:
        self._stop_unread()
        self._unread = self.loop.call_later(self.answer_seconds, self._hang_up_on_unread)

    def _stop_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _hang_up_on_unread(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()


class EndingServer(uvicorn.Server):
    """uvicorn's server, which says by what it was ended instead of raising the signal again."""

    ended_by: signal.Signals | None = None

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Signals ask the server to end; afterwards the handlers are as they were."""
        if threading.current_thread() is not threading.main_thread():  # there Python allows none
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in EXIT_CODES}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note the first signal."""
        self.ended_by = self.ended_by or signal.Signals(sig)
        super().handle_exit(sig, frame)


def make_server(app: App, config: ServerConfig) -> EndingServer:
    """The server of an app, with the limits of this file and of the config."""
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)

    class Protocol(HastyProtocol):
        answer_seconds = config.timeout

    return EndingServer(
        uvicorn.Config(
            app,
            http=Protocol,
            ws="none",
            loop="asyncio",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=BACKLOG,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=int(config.timeout) + GRACE,
        )
    )


def run_server(server: EndingServer, opened: socket.socket, begun: Callable[[], None]) -> int:
    """Serve until a signal comes, and answer what was accepted; the exit code.

    Args:
        server: that is not running yet.
        opened: a socket that is bound.
        begun: called when requests are accepted.
    """

    async def serve() -> None:
        serving = asyncio.create_task(server.serve(sockets=[opened]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        if server.started:
            begun()
        await serving

    raise_file_limit()
    asyncio.run(serve())
    return 0 if server.ended_by is None else EXIT_CODES[server.ended_by]
