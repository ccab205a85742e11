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


@pytest.mark.slow
@pytest.mark.parametrize("model", ["mlp", "resnet20", "lstm", "gpt"])
def test_same_ranks_go_on_to_the_same_bits(tmp_path: Path, model: str) -> None:
    life = Life(model=model, settings={"average": "exponential", "accumulate": 2})
    whole = live_together(life, tmp_path, 2)
    run = tmp_path / "run"
    run.mkdir()
    parted = Life(**{**vars(life), "folder": run, "stop": STOP})
    assert live_together(parted, tmp_path, 2)[0]["step"] == STOP
    files = {file.name for file in (run / "checkpoints" / "step-000020").iterdir()}
    assert {"part-00001-of-00002.safetensors", "part-00002-of-00002.safetensors"} <= files
    again = live_together(Life(**{**vars(life), "folder": run}), tmp_path, 2)
    for ours, theirs in zip(again, whole, strict=True):
        assert_equal(ours, theirs)


@pytest.mark.parametrize("worlds", slow_but([(2, 1)], [(4, 2), (4, 3), (4, 8), (2, 1)]))
def test_another_number_of_ranks_goes_on(tmp_path: Path, worlds: tuple[int, int]) -> None:
    alone = live_alone(Life(model="gpt"))
    run = tmp_path / "run"
    run.mkdir()
    for world, stop in zip(worlds, (STOP, 50), strict=True):
        life = Life(model="gpt", folder=run, stop=stop, allow=["processes"])
        last = live_together(life, tmp_path, world)
    assert_near(last[0], alone)
