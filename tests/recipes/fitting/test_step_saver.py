"""Checkpoints as a rule goes: when it is time, where it is stopped, and none without a folder."""

from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.recipes.fitting import step_saver
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.prepared import Prepared, RunContext
from netwright.recipes.fitting.step_saver import NO_PROGRESS, StepSaver
from netwright.train.saving.learner_checkpoint import Progress

GIVEN: dict[str, Any] = {"data.name": "words"}


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))
    (tmp_path / "a.txt").write_text("to be or not to be " * 50)
    return prepare("word2vec", str(tmp_path / "a.txt"), dim=3, **GIVEN)


def test_it_saves_once_in_a_while_and_where_it_ends(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_saver, "EVERY", 1000.0)
    saver = StepSaver(prepared, RunContext(folder=tmp_path))
    assert saver.progress_before() == NO_PROGRESS
    saver.after_step(Progress(1, 0.0, []), ends=False)
    assert not (tmp_path / "checkpoints").exists()
    saver.next = 0.0
    saver.after_step(Progress(2, 0.0, []), ends=False)
    saver.after_step(Progress(3, 0.5, []), ends=True)
    assert sorted(place.name for place in (tmp_path / "checkpoints").iterdir()) == [
        "step-000002",
        "step-000003",
    ]
    again = RunContext(folder=tmp_path, checkpoint=tmp_path / "checkpoints" / "step-000003")
    assert StepSaver(prepared, again).progress_before() == Progress(3, 0.5, [])


def test_a_run_in_memory_leaves_nothing(prepared: Prepared) -> None:
    StepSaver(prepared, RunContext()).after_step(Progress(1, 0.0, []), ends=True)
    assert isinstance(prepared.model, nw.models.Word2Vec)
