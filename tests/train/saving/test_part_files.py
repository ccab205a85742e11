"""Checkpoints that several ranks write together: the same bits, and other numbers of ranks."""

from pathlib import Path

import pytest

from tests.repetition import slow_but
from tests.train.engines.sharded_runs import (
    Life,
    assert_equal,
    assert_near,
    live_alone,
    live_together,
)

STOP = 20  # in an epoch, between two saves


MODELS = ("mlp", "resnet20", "lstm", "gpt")


@pytest.mark.slow
@pytest.mark.parametrize(("model", "world"), [*((model, 2) for model in MODELS), ("gpt", 4)])
def test_same_ranks_go_on_to_the_same_bits(tmp_path: Path, model: str, world: int) -> None:
    life = Life(model=model, settings={"average": "exponential", "accumulate": 2})
    whole = live_together(life, tmp_path, world)
    run = tmp_path / "run"
    run.mkdir()
    parted = Life(**{**vars(life), "folder": run, "stop": STOP})
    assert live_together(parted, tmp_path, world)[0]["step"] == STOP
    files = {file.name for file in (run / "checkpoints" / "step-000020").iterdir()}
    parts = {f"part-{rank:05d}-of-{world:05d}.safetensors" for rank in range(1, world + 1)}
    assert parts <= files
    again = live_together(Life(**{**vars(life), "folder": run}), tmp_path, world)
    for ours, theirs in zip(again, whole, strict=True):
        assert_equal(ours, theirs)


RESHARDED = [(model, 4, after) for model in MODELS for after in (2, 3)]


@pytest.mark.parametrize(
    "case", slow_but([("gpt", 2, 1)], [*RESHARDED, ("gpt", 4, 8), ("gpt", 2, 1)])
)
def test_another_number_of_ranks_goes_on_with_the_same_losses(
    tmp_path: Path, case: tuple[str, int, int]
) -> None:
    model, *worlds = case
    alone = live_alone(Life(model=model))
    run = tmp_path / "run"
    run.mkdir()
    for world, stop in zip(worlds, (STOP, 50), strict=True):
        life = Life(model=model, folder=run, stop=stop, allow=["processes"])
        last = live_together(life, tmp_path, world)
    assert len(last[0]["losses"]) == 50 - STOP
    assert_near(last[0], alone)
