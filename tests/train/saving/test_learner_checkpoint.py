"""Checkpoints of learning rules: weights and progress come back, everything else is refused."""

import json
from pathlib import Path

import pytest
import torch
from torch import nn

from netwright.core.errors import ConfigError, DataError
from netwright.train.saving.learner_checkpoint import Progress, load_learner, save_learner
from netwright.train.watching.history import Row

ROW = Row(step=1, epoch=1, samples=4, time=0.5, split="train", name="loss", value=2.0)
CONDITIONS = {"seed": 3, "threads": 1, "sizes": (1, 2)}


def saved(folder: Path) -> Path:
    place = folder / "checkpoints" / "step-000007"
    place.parent.mkdir()
    save_learner(place, nn.Linear(2, 3), Progress(7, 1.5, [ROW]), CONDITIONS)
    return place


def test_what_was_saved_comes_back(tmp_path: Path) -> None:
    place, model = tmp_path / "step-000007", nn.Linear(2, 3)
    save_learner(place, model, Progress(7, 1.5, [ROW]), CONDITIONS)
    other = nn.Linear(2, 3)
    assert load_learner(place, other, {**CONDITIONS, "threads": 2}) == Progress(7, 1.5, [ROW])
    assert torch.equal(other.weight, model.weight)


def test_other_conditions_models_and_damage_are_refused(tmp_path: Path) -> None:
    place = saved(tmp_path)
    with pytest.raises(ConfigError, match="cannot be resumed exactly: seed was 3, is 4"):
        load_learner(place, nn.Linear(2, 3), {**CONDITIONS, "seed": 4})
    with pytest.raises(DataError, match="does not fit the model"):
        load_learner(place, nn.Linear(2, 4), CONDITIONS)
    (place / "model.safetensors").write_bytes(b"")
    with pytest.raises(DataError):
        load_learner(place, nn.Linear(2, 3), CONDITIONS)


@pytest.mark.parametrize(
    "change",
    [{"step": "x"}, {"format": 2}, {"history": [1]}, {"conditions": None}, {"elapsed": None}],
    ids=lambda change: next(iter(change)),
)
def test_a_forged_state_is_refused(
    change: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = json.dumps
    monkeypatch.setattr(
        "netwright.train.saving.learner_checkpoint.json.dumps",
        lambda values, **settings: (
            dump({**values, **change}, **settings)
            if "format" in values
            else dump(values, **settings)
        ),
    )
    place = saved(tmp_path)
    with pytest.raises(DataError):
        load_learner(place, nn.Linear(2, 3), CONDITIONS)
