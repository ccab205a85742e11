"""Rare features: the streams, the rates side by side, and what turns the verdict."""

import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from netwright.core.seeding import generator
from netwright.theory.optimizers.optimizer_path import optimizer_path
from netwright.theory.optimizers.sparse_gradients import (
    BATCH,
    RATES,
    SPARSE_GRADIENTS,
    SparseGradientsConfig,
    Stream,
    trained,
)
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(SPARSE_GRADIENTS)


def small_stream() -> Stream:
    rng = generator(0, "test")
    return Stream(
        frequencies=torch.tensor([0.1, 1.0]), truth=torch.randn(2, 2, 1, generator=rng), rng=rng
    )


def test_frequencies_run_from_the_rarest_to_one_or_are_their_mean() -> None:
    spread = SparseGradientsConfig(rarest=1e-3).frequencies
    assert (spread[0].item(), spread[-1].item()) == pytest.approx((1e-3, 1.0))
    assert torch.equal(
        SparseGradientsConfig(sparse=False).frequencies, spread.mean().expand(len(spread))
    )


def test_features_occur_as_often_as_they_should() -> None:
    shares = small_stream().inputs(20_000).mean((0, 1))
    assert shares.tolist() == pytest.approx([0.1, 1.0], abs=0.01)


def test_the_gap_is_zero_at_the_truth_and_a_divergence_elsewhere() -> None:
    stream = small_stream()
    inputs = stream.inputs(1000)
    assert torch.allclose(stream.gap(stream.truth[None], inputs), torch.zeros(1, 2))
    logits = inputs @ stream.truth
    chance, zero = logits.sigmoid(), torch.zeros_like(logits)
    extra = binary_cross_entropy_with_logits(
        zero, chance, reduction="none"
    ) - binary_cross_entropy_with_logits(logits, chance, reduction="none")
    gap = stream.gap(torch.zeros(1, 2, 2, 1), inputs)
    assert torch.allclose(gap[0], extra.mean((-2, -1)), atol=1e-6)


@pytest.mark.slow
def test_all_rivals_are_judged_on_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    same = {name: ("sgd", 0.0) for name in "abc"}
    monkeypatch.setattr("netwright.theory.optimizers.sparse_gradients.RIVALS", same)
    assert SPARSE_GRADIENTS.check().measured == pytest.approx(1)


@pytest.mark.parametrize(("name", "power"), [("sgd", 0.0), ("sgd", 0.5), ("adagrad", 0.0)])
def test_rates_side_by_side_are_runs_one_by_one(name: str, power: float) -> None:
    stream = small_stream()
    batches = [stream.batch() for _ in range(20)]
    together = trained(name, power, batches, torch.zeros(len(RATES), 2, 2, 1))
    rate, coming = RATES[3].item(), iter(enumerate(batches, start=1))

    def gradient(weights: torch.Tensor) -> torch.Tensor:
        step, (inputs, labels) = next(coming)
        return inputs.mT @ ((inputs @ weights).sigmoid() - labels) / (BATCH * float(step) ** power)  # type: ignore[no-any-return]

    alone = optimizer_path(name, gradient, torch.zeros(2, 2, 1), lr=rate, steps=20)[-1]
    assert torch.allclose(together[3], alone, atol=1e-5)


@pytest.mark.slow
def test_an_adagrad_that_does_not_adapt_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    rivals = {"a": ("sgd", 0.0), "b": ("sgd", 0.5), "AdaGrad": ("sgd", 0.2)}
    monkeypatch.setattr("netwright.theory.optimizers.sparse_gradients.RIVALS", rivals)
    assert not SPARSE_GRADIENTS.check().holds
