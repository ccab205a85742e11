"""Simple models on noisy data: the series, the words, and the least error that is possible."""

import pytest
import torch

from netwright.core.seeding import generator
from netwright.theory.sequences.simple_models import (
    LAGS,
    SIMPLE_MODELS,
    TELLING,
    SimpleModelsConfig,
    draw_series,
    r2_of,
    series_data,
    word_data,
)
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(SIMPLE_MODELS)


@pytest.mark.slow
def test_the_simple_models_are_as_good() -> None:
    assert SIMPLE_MODELS.check().holds


def test_least_squares_finds_the_lags_of_the_series() -> None:
    series = draw_series(SimpleModelsConfig(), 50_000, generator(0, "test"))
    inputs = series[:-1].unfold(0, len(LAGS), 1)
    found = torch.linalg.lstsq(inputs, series[len(LAGS) :, None]).solution.squeeze(1).flip(0)
    torch.testing.assert_close(found, torch.tensor(LAGS), rtol=0, atol=0.02)


def test_inputs_lie_before_their_target() -> None:
    data = series_data(SimpleModelsConfig(), generator(0, "test"))
    inputs, targets = data.train.inputs, data.train.targets
    spread = inputs[1:, -1] - inputs[1:, -1].mean()
    told = targets[:-1] - targets[:-1].mean()
    torch.testing.assert_close(spread / spread.norm(), told / told.norm())


def test_few_words_tell_half_of_the_score() -> None:
    data = word_data(SimpleModelsConfig(), generator(0, "test"))
    test = data.split("test")
    told = torch.linalg.lstsq(test.inputs[:, :TELLING], test.targets)
    rest = test.targets - test.inputs[:, :TELLING] @ told.solution
    assert 1 - rest.var() / test.targets.var() == pytest.approx(0.5, abs=0.05)


def test_the_share_explained_is_that_of_new_targets() -> None:
    data = series_data(SimpleModelsConfig(), generator(0, "test"))
    test = data.split("test")
    found = torch.linalg.lstsq(data.train.inputs.flatten(1), data.train.targets).solution
    left = (test.inputs.flatten(1) @ found - test.targets).square().mean()
    assert r2_of("least-squares", data, 0) == pytest.approx(
        1 - (left / test.targets.var(correction=0)).item(), abs=0.01
    )
