"""`netwright serve` from its arguments to its end."""

import re
import secrets
from collections.abc import Sequence
from pathlib import Path

from netwright.apps.server.app import build_app
from netwright.apps.server.guard import LOOPBACK_NAMES, Door, is_address
from netwright.apps.server.measurements import Measurements
from netwright.apps.server.running import is_any, is_loopback, listen, make_server, run_server
from netwright.apps.server.served_runs import ServedRuns
from netwright.apps.server.server_config import ServerConfig
from netwright.core.errors import ConfigError
from netwright.core.terminal.console import print_message
from netwright.data.text.text_files import read_text

NAME = re.compile(r"[A-Za-z0-9._-]{1,253}")  # of a host; others are written so, as xn--...
TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{16,200}")


def serve_runs(
    folders: dict[str, Path],
    *,
    host: str,
    port: int,
    token_file: Path | None,
    names: Sequence[str],
    config: ServerConfig,
) -> int:
    """Serve until a signal comes; the exit code.

    Args:
        folders: name -> the folder of the run, at least one.
        host: the address to listen on.
        port: its port.
        token_file: holds the token; None: one is made where others than this machine may ask.
        names: by which the server may be asked, beside its address.
        config: what is allowed.
    """
    door = make_door(host, token_file, names)
    measurements = Measurements()
    with listen(host, port) as opened:
        runs = ServedRuns(folders, measurements)
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{opened.getsockname()[1]}"

        def say_begun() -> None:
            for served in runs:
                print_message(f"{served.name}: {served.folder}")
            if door.token and token_file is None:
                print_message(f"token: {door.token}")
            print_message(f"serving on {address}, Ctrl-C ends it")

        server = make_server(build_app(runs, config, door, measurements), config)
        return run_server(server, opened, say_begun)


def make_door(host: str, token_file: Path | None, names: Sequence[str]) -> Door:
    """Who may ask a server that listens there: beyond this machine, those who have a token.

    Another name for it says that a proxy lets others ask, who come from this machine by then.
    """
    named = {_checked_name(name) for name in names}
    token = "" if token_file is None else _read_token(token_file)
    if not token and (named - LOOPBACK_NAMES or not is_loopback(host)):
        token = secrets.token_urlsafe(32)
    return Door(hosts=frozenset({*named, host.lower()}), any_address=is_any(host), token=token)


def _checked_name(name: str) -> str:
    """A name as requests have it, which may come with any port."""
    if not NAME.fullmatch(name) and not is_address(name):
        raise ConfigError(
            f"--allow-host must be a name of letters, digits and .-_, or an address, without a "
            f"port, got {name!r:.100}"
        )
    return name.lower()


def _read_token(path: Path) -> str:
    token = read_text(path).strip()
    if not TOKEN.fullmatch(token):
        raise ConfigError(
            f"{path} must hold a token of 16 to 200 letters, digits and ._~+/=-, and nothing else"
        )
    return token
