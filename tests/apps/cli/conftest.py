"""The command as a person types it, in this process; and a run to read."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import netwright as nw
from netwright.apps.cli.main import run
from tests.undrawn import undrawn  # noqa: F401 - a fixture


@dataclass(frozen=True)
class Answer:
    """What a command gave."""

    code: int
    out: str
    err: str


Type = Callable[..., Answer]


@pytest.fixture
def type_in(
    undrawn: None,  # noqa: F811 - the fixture; pictures have tests of their own
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Type:
    """Run `netwright ...` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def typed(*words: object) -> Answer:
        code = run([str(word) for word in words])
        shown = capsys.readouterr()
        return Answer(code, shown.out, shown.err)

    return typed


@pytest.fixture(scope="session")
def things_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty rows: the class says whether size exceeds 5; colour is noise."""
    rows = [
        f"{row / 6:.3f},{'red' if row % 3 else 'blue'},{'big' if row > 30 else 'small'}"
        for row in range(60)
    ]
    path = tmp_path_factory.mktemp("table") / "things.csv"
    path.write_text("\n".join(["size,colour,kind", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def things_run(tmp_path_factory: pytest.TempPathFactory, things_csv: Path) -> Path:
    out = tmp_path_factory.mktemp("runs") / "things"
    nw.fit("mlp", things_csv, target="kind", hidden=(16,), epochs=20, lr=0.01, out=out, quiet=True)
    return out
