"""A folder with finished runs, and a studio of it that is asked without a socket."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.apps.server.guard import Door
from netwright.apps.server.server_config import ServerConfig
from tests.apps.server.asking import Answer, Asking
from tests.undrawn import undrawn  # noqa: F401 - a fixture

TOKEN = "a-token-of-this-test"
COOKIE = "netwright-8000"
HOST = {"Host": "127.0.0.1:8000"}
LET_IN = {**HOST, "Cookie": f"{COOKIE}={TOKEN}", "Origin": "http://127.0.0.1:8000"}
SMALL: dict[str, Any] = {"n": 60, "noise": 0.3, "epochs": 1, "quiet": True, "device": "cpu"}


class Visitor:
    """Somebody who was let in.

    Args:
        asking: the studio.
        folder: that it shows.
    """

    def __init__(self, asking: Asking, folder: Path) -> None:
        self.asking, self.folder = asking, folder

    def get(self, path: str, headers: dict[str, str] | None = None) -> Answer:
        return self.asking.ask("GET", path, headers=LET_IN if headers is None else headers)

    def post(self, path: str, value: Any, headers: dict[str, str] | None = None) -> Answer:
        return self.asking.post(path, value, LET_IN if headers is None else headers)


Open = Callable[[], Visitor]


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two recipes under three seeds each, on the same rows."""
    folder = tmp_path_factory.mktemp("studio")
    for seed in range(3):
        for width in (2, 8):
            out = folder / "runs" / f"mlp-{width}-{seed}"
            nw.fit("mlp", "moons", hidden=(width,), seed=seed, out=out, **SMALL)
    (folder / "runs" / "mlp-2-0" / "report.html").write_text("<p>a report</p>")
    return folder


@pytest.fixture
def studio(trained: Path, tmp_path: Path) -> Iterator[Open]:
    """Open a studio on a copy of the folder."""
    pytest.importorskip("starlette")
    from netwright.apps.studio.app import build_app
    from netwright.apps.studio.opening import OPEN

    with ExitStack() as studios:

        def opened() -> Visitor:
            folder = tmp_path / "folder"
            shutil.copytree(trained, folder)
            door = Door(token=TOKEN, cookie=COOKIE, open=OPEN)
            app = build_app(folder, door, ServerConfig())
            return Visitor(studios.enter_context(Asking(app)), folder)

        yield opened
