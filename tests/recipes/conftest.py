"""Runs that several tests of recipes read; trained once a worker."""

from pathlib import Path

import pytest

import netwright as nw
from tests.undrawn import undrawn  # noqa: F401 - a fixture


@pytest.fixture(scope="session")
def moons_run(tmp_path_factory: pytest.TempPathFactory) -> nw.Run:
    out = tmp_path_factory.mktemp("runs") / "moons"
    return nw.fit("mlp", "moons", hidden=(16,), epochs=3, out=out, quiet=True)


@pytest.fixture(scope="session")
def table_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty rows: the class says whether size exceeds 5; colour is noise."""
    lines = ["size,colour,kind"]
    for row in range(60):
        size = row / 6
        lines.append(f"{size:.3f},{'red' if row % 3 else 'blue'},{'big' if size > 5 else 'small'}")
    path = tmp_path_factory.mktemp("table") / "things.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def reviews_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty rows with a text and a label."""
    rows = [f"a {'fine' if row % 2 else 'dull'} film,{row % 2}" for row in range(30)]
    path = tmp_path_factory.mktemp("table") / "reviews.csv"
    path.write_text("\n".join(["text,label", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def table_run(tmp_path_factory: pytest.TempPathFactory, table_file: Path) -> nw.Run:
    out = tmp_path_factory.mktemp("runs") / "things"
    return nw.fit(
        "mlp", table_file, target="kind", hidden=(16,), epochs=20, lr=0.01, out=out, quiet=True
    )
