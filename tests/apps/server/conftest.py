"""Runs of each kind that a server answers for, and a server of all of them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.apps.server.guard import Door
from netwright.apps.server.measurements import Measurements
from netwright.apps.server.served_runs import ServedRuns
from netwright.apps.server.server_config import ServerConfig
from tests.apps.server.asking import Asking
from tests.data.images.pictures import folder_of

SMALL: dict[str, Any] = {"epochs": 1, "quiet": True, "seed": 0}
TINY: dict[str, Any] = {**SMALL, "hidden": 4, "embedding": 4}
Serve = Callable[..., Asking]


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of files, and a run on each: name -> its folder."""
    root = tmp_path_factory.mktemp("served")
    things = [
        f"{row},{row / 6:.3f},{'red' if row % 3 else 'blue'},{'big' if row > 30 else 'small'}"
        for row in range(60)
    ]
    (root / "things.csv").write_text("\n".join(["id,size,colour,kind", *things]) + "\n")
    reviews = [f"a {'fine' if row % 2 else 'dull'} film\t{row % 2}" for row in range(30)]
    (root / "reviews.tsv").write_text("\n".join(["text\tlabel", *reviews]) + "\n")
    (root / "notes.txt").write_text("the cat sat on the mat. " * 20)
    names = [f"{kind}/{place}.png" for kind in ("cat", "dog") for place in range(4)]
    pets = folder_of(root / "pets", *names)
    runs = {name: root / f"run-{name}" for name in (*"things sizes texts letters pets".split(),)}
    nw.fit("mlp", root / "things.csv", target="kind", hidden=(8,), out=runs["things"], **SMALL)
    nw.fit("least-squares", root / "things.csv", target="size", out=runs["sizes"], quiet=True)
    nw.fit("elman", root / "reviews.tsv", text="text", target="label", out=runs["texts"], **TINY)
    nw.fit("elman", root / "notes.txt", window=16, out=runs["letters"], **TINY)
    nw.fit("softmax", pets, val_size=0, test_size=0, out=runs["pets"], **SMALL)
    runs["iris"] = root / "run-iris"
    nw.fit("mlp", "iris", hidden=(4,), out=runs["iris"], **SMALL)
    runs["reverse"] = root / "run-reverse"
    nw.fit("encoder-decoder", "reverse", n=60, length=4, out=runs["reverse"], **TINY)
    return runs


@pytest.fixture(scope="session")
def things_rows() -> list[dict[str, Any]]:
    """Rows for the run `things`."""
    return [
        {"id": f"n{row}", "size": row / 7, "colour": "red" if row % 2 else "blue"}
        for row in range(12)
    ]


@pytest.fixture
def serve(folders: dict[str, Path]) -> Iterator[Serve]:
    """Start a server of all runs, or of the folders given, with these settings and this door."""
    pytest.importorskip("starlette")
    from netwright.apps.server.app import build_app

    with ExitStack() as servers:

        def started(
            door: Door | None = None, given: dict[str, Path] | None = None, **settings: Any
        ) -> Asking:
            measurements = Measurements()
            runs = ServedRuns(given or folders, measurements)
            app = build_app(runs, ServerConfig(**settings), door or Door(), measurements)
            return servers.enter_context(Asking(app))

        yield started
