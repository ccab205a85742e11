"""The noise of mini-batches: its mean, its size, its turns, and SVRG without it."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.gradient_descent.minibatch_noise import (
    SMOOTHER,
    SVRG,
    VARIANCE,
    Regressions,
    mean_over_batches,
    random_regressions,
    turns,
)
from netwright.theory.verdict import Verdict
from netwright.train.settings import TrainConfig, pace_for
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.fixture(scope="module")
def variance() -> Verdict:
    return VARIANCE.check()


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("claim", [VARIANCE, SMOOTHER], ids=["variance", "smoother"])
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_svrg_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(SVRG)


@pytest.mark.covers("sgd")
@pytest.mark.covers("sgd-unbiased")
@pytest.mark.parametrize("repeat", [True, False])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_mean_over_all_batches_is_the_full_gradient(
    size: int, repeat: bool, variance: Verdict
) -> None:
    gradients = torch.randn(6, 4, generator=generator(0, "six"), dtype=torch.float64)
    mean = mean_over_batches(gradients, size, torch.ones(6).double(), repeat=repeat)
    assert torch.allclose(mean, gradients.mean(0), rtol=0, atol=1e-12)
    assert abs(variance.findings[1].measured + 1) < 0.05


def test_draws_that_prefer_some_examples_are_biased_by_hand() -> None:
    mean = mean_over_batches(torch.tensor([[0.0], [1.0]]), 1, torch.tensor([1.0, 3.0]), repeat=True)
    assert mean.item() == pytest.approx(0.75)


def test_the_gradient_is_that_of_autograd_and_the_gap_is_above_the_least_loss() -> None:
    task = random_regressions(3, generator(0, "task"))
    weights = torch.randn(3, 10, dtype=torch.float64, generator=generator(0, "weights"))

    def loss(w: torch.Tensor) -> torch.Tensor:
        return ((task.inputs @ w[..., None])[..., 0] - task.targets).square().mean(-1) / 2

    expected = torch.func.grad(lambda w: loss(w).sum())(weights)
    assert torch.allclose(task.gradient(weights), expected)
    stacked = task.gradient(torch.stack([weights, 2 * weights]))
    assert torch.allclose(stacked[0], expected)
    assert torch.allclose(task.gaps(weights[None])[0], loss(weights) - loss(task.best()))
    assert task.gradient(task.best()).abs().max() < 1e-12


def test_drawn_examples_keep_inputs_and_targets_together() -> None:
    inputs = torch.arange(12.0).reshape(2, 6, 1)
    drawn = Regressions(inputs=inputs, targets=inputs[..., 0]).drawn(50, generator(0, "draw"))
    assert torch.equal(drawn.inputs[..., 0], drawn.targets)
    assert set(drawn.targets[1].tolist()) == {6.0, 7.0, 8.0, 9.0, 10.0, 11.0}


def test_turns_by_hand() -> None:
    values = torch.tensor([[3.0, 2.0, 1.0, 2.0, 1.0, 1.0 + 1e-14, 0.0]]).double().T
    assert turns(values).tolist() == [2]


@pytest.mark.slow
@pytest.mark.covers("svrg")
def test_svrg_goes_on_where_sgd_stalls_at_its_predicted_noise() -> None:
    verdict = SVRG.check()
    reduced, plain = verdict.findings
    assert reduced.measured < 1e-10
    assert plain.measured > 1e-4
    floor, sgd, svrg = verdict.chart.series
    assert sum(sgd.y[10:]) / len(sgd.y[10:]) == pytest.approx(floor.y[0], rel=0.25)
    factors = [after / before for before, after in zip(svrg.y[5:], svrg.y[6:], strict=False)]
    assert max(factors) < 1  # linear: a factor each epoch


def test_the_variance_itself_is_that_of_one_example_over_the_batch_size(variance: Verdict) -> None:
    bias, _, share = variance.findings
    assert bias.n == 6**3
    assert share.measured == pytest.approx(1, abs=share.within)
    assert share.within < 0.1


# The row asks for time an epoch: counted are the updates, on which it depends, and no clock.
@pytest.mark.covers("batch-size-tuning")
def test_larger_batches_have_less_noise_and_fewer_updates_an_epoch(variance: Verdict) -> None:
    _, slope, _ = variance.findings
    assert slope.measured == pytest.approx(-1, abs=0.05)
    sizes = (1, 8, 32, 256, 1000)
    updates = [pace_for(TrainConfig(batch_size=B), 1000).updates for B in sizes]
    assert updates == [1000, 125, 32, 4, 1]


def test_batches_without_repeats_are_counted_as_such_and_vary_less() -> None:
    bias, _, share = VARIANCE.check(independent=False).findings
    assert bias.n == 120
    sizes = torch.tensor([1.0, 2, 4, 8, 16, 32])
    assert share.measured == pytest.approx(float(((100 - sizes) / 99).mean()), abs=share.within)
    assert not share.holds


@pytest.mark.slow
@pytest.mark.parametrize("lr", [0.01, 0.03])
def test_svrg_arrives_with_any_step_in_its_range(lr: float) -> None:
    assert SVRG.check(lr=lr).holds


def test_a_step_too_long_or_a_batch_too_large_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^lr must be at most 0\.03, got 0\.1$"):
        SVRG.check(lr=0.1)
    with pytest.raises(ConfigError, match=r"^batch_size must be at most 100, got 1000$"):
        SMOOTHER.check(batch_size=1000)


def test_batches_as_large_as_the_set_are_still_not_smoother() -> None:
    assert not SMOOTHER.check(batch_size=100).holds
