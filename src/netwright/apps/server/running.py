"""The server as a process: where it listens, and how it ends.

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

from netwright.apps.server.guard import App
from netwright.apps.server.hasty_protocol import HastyProtocol
from netwright.apps.server.server_config import ServerConfig
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
