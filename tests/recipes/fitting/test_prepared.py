"""What is prepared has learned and written nothing; a run context is one process by default."""

from pathlib import Path

import pytest

from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.prepared import RunContext


def test_preparing_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    prepared = prepare("mlp", "moons", epochs=2)
    assert prepared.recipe.train.epochs == 2
    assert not list(tmp_path.iterdir())


def test_alone_in_memory_from_the_beginning_by_default() -> None:
    here = RunContext()
    assert (here.folder, here.checkpoint, here.ranks.world) == (None, None, 1)
