"""Noise on inputs: fresh, of the right size, for numbers alone; and it helps up to a point."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.dataset import Data, Split
from netwright.data.spec import DataSpec
from netwright.train.callbacks.batches.input_noise import InputNoise
from netwright.train.evaluate import measure_quickly
from netwright.train.ranks import Ranks
from netwright.train.tasks.catalog import task_for
from tests.train.toy_runs import toy_data, toy_fit, toy_start, whole_batch


def noisy(place: tuple[int, int], rank: int = 0) -> torch.Tensor:
    data = toy_data(rows=2000)
    state = toy_start()
    state.batch = whole_batch(data.train)
    (state.epoch, state.position), state.ranks = place, Ranks(rank, 2)
    InputNoise(0.5, data.spec, seed=0).on_batch_start(state)
    assert state.batch is not None
    assert torch.equal(state.batch.targets, data.train.targets)
    noise: torch.Tensor = state.batch.inputs - data.train.inputs
    return noise


def test_noise_has_its_deviation_and_is_fresh_in_each_place() -> None:
    first = noisy((0, 1))
    assert first.std().item() == pytest.approx(0.5, rel=0.03)
    assert abs(first.mean().item()) < 4 * 0.5 / 6000**0.5
    assert torch.equal(first, noisy((0, 1)))
    for other in (noisy((1, 1)), noisy((0, 2)), noisy((0, 1), rank=1)):
        assert not torch.equal(first, other)


def test_words_get_no_noise() -> None:
    spec = DataSpec(inputs="tokens", input_shape=(4,), target="class", num_outputs=2, vocab_size=9)
    sentence = "^input_noise is for features and images, inputs are tokens$"
    with pytest.raises(ConfigError, match=sentence):
        InputNoise(0.1, spec, seed=0)


def too_few_rows() -> Data:
    """24 noisy rows for 20 weights: they can be memorised; 500 rows to choose by."""
    random = torch.Generator().manual_seed(0)
    weights = torch.randn(20, 1, generator=random) * 0.3

    def split(rows: int) -> Split:
        x = torch.randn(rows, 20, generator=random)
        return Split(inputs=x, targets=x @ weights + torch.randn(rows, 1, generator=random))

    data = toy_data("real")
    spec = replace(data.spec, input_shape=(20,), num_outputs=1)
    return replace(data, spec=spec, train=split(24), val=None, test=split(500))


@pytest.mark.slow
@pytest.mark.covers("noise-robustness")
def test_validation_error_over_the_noise_level_has_the_shape_of_a_u() -> None:
    data, losses = too_few_rows(), []
    for level in (0.0, 0.2, 0.6, 2.0, 6.0):
        with seeded(0):
            net = nn.Linear(20, 1)
        settings = {"epochs": 100, "batch_size": 24, "lr": 0.1, "average": "equal"}
        toy_fit(net, data, input_noise=level, **settings)
        assert data.test is not None
        losses.append(measure_quickly(net, data.test, task_for(data))["loss"])
    best = losses.index(min(losses))
    assert 0 < best < 4
    assert sorted(losses[: best + 1], reverse=True) == losses[: best + 1]
    assert sorted(losses[best:]) == losses[best:]
    assert min(losses[0], losses[-1]) > 1.2 * losses[best]
