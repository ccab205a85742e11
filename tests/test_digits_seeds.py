"""The default recipe on the digits, as shipped: good for seed 0, and no accident of that seed."""

import pytest

from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.training import train


def accuracy(seed: int) -> float:
    run = train(prepare("mlp", "digits", seed=seed), quiet=True, keep_folder=False)
    return float(run.results["metrics"]["accuracy"])


@pytest.mark.slow
def test_seed_0_reaches_97_per_cent() -> None:
    assert accuracy(0) >= 0.97


@pytest.mark.slow
def test_ten_seeds_reach_97_3_per_cent_in_the_mean_and_96_each() -> None:
    reached = [accuracy(seed) for seed in range(10)]
    assert sum(reached) / len(reached) >= 0.973, reached
    assert min(reached) >= 0.96, reached
