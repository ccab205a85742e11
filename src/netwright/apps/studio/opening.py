"""`netwright studio` from its arguments to its end."""

import secrets
import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from netwright.apps.server.running import EndingServer, listen, make_server, run_server
from netwright.apps.server.server_config import ServerConfig
from netwright.apps.server.serving import make_door
from netwright.apps.studio.app import build_app
from netwright.core.errors import ConfigError
from netwright.core.terminal.console import print_message

OPEN = frozenset({"/enter", "/health"})  # all else is by token


def open_studio(
    folder: Path, *, host: str, port: int, names: Sequence[str], show: bool = False
) -> int:
    """Show the runs of a folder until a signal comes; the exit code.

    Args:
        folder: whose runs are shown.
        host: the address to listen on.
        port: its port; 0: any that is free.
        names: by which the studio may be asked, beside its address.
        show: open the page in the browser.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder")
    with listen(host, port) as opened:
        number = opened.getsockname()[1]
        token = secrets.token_urlsafe(32)
        door = replace(
            make_door(host, None, names), token=token, cookie=f"netwright-{number}", open=OPEN
        )
        servers: list[EndingServer] = []
        app = build_app(
            folder.resolve(), door, ServerConfig(), lambda: any(s.should_exit for s in servers)
        )
        servers.append(make_server(app, ServerConfig()))
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{number}/enter?token={token}"

        def say_begun() -> None:
            print_message(f"the studio of {folder}: {address}")
            print_message("whoever has this address can train and delete runs; Ctrl-C ends it")
            if show:
                webbrowser.open(address)

        return run_server(servers[0], opened, say_begun)
