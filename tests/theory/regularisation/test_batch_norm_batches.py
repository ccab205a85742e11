"""Batch normalisation and small batches: the spread of means, the losses, and the verdict."""

import pytest

from netwright.core.seeding import generator
from netwright.theory.regularisation import batch_norm_batches
from netwright.theory.regularisation.batch_norm_batches import BATCH_NORM_BATCHES, spread_of_means
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(BATCH_NORM_BATCHES)


@pytest.mark.parametrize("size", [2, 8, 64])
def test_the_mean_of_a_batch_is_off_by_one_over_the_root_of_its_size(size: int) -> None:
    spread = spread_of_means(size, 20_000, generator(0, "test"), independent=True)
    assert spread == pytest.approx(size**-0.5, rel=0.02)


def test_copies_in_a_batch_count_once() -> None:
    spread = spread_of_means(8, 20_000, generator(0, "test"), independent=False)
    assert spread == pytest.approx(4**-0.5, rel=0.02)


@pytest.mark.slow
@pytest.mark.covers("bn-noise-batch-size")
def test_two_examples_a_batch_are_clearly_the_worst_and_their_mean_the_noisiest() -> None:
    sizes, rng = (2, 8, 64, 512), generator(0, "test")
    spreads = {B: spread_of_means(B, 20_000, rng, independent=True) for B in sizes}
    assert [spreads[B] * B**0.5 for B in sizes] == pytest.approx([1] * 4, rel=0.03)
    losses = {B: batch_norm_batches.test_loss(B, 0, "quick", batch_norm=True) for B in sizes}
    assert losses[2] > 1.5 * max(losses[B] for B in (8, 64, 512))


@pytest.mark.parametrize(
    ("losses", "failing"),
    [
        ({2: (3, 2), 64: (1, 2)}, []),
        ({2: (1, 2), 64: (1, 2)}, [2]),
        ({2: (3, 2), 64: (3, 2)}, [64]),
    ],
)
def test_each_loss_that_is_not_as_claimed_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch, losses: dict[int, tuple[float, float]], failing: list[int]
) -> None:
    monkeypatch.setattr(
        "netwright.theory.regularisation.batch_norm_batches.test_loss",
        lambda size, *_, batch_norm: losses[size][0 if batch_norm else 1],
    )
    findings = BATCH_NORM_BATCHES.check().findings
    assert [one.what for one in findings if not one.holds] == [
        f"test loss with batch norm over without, B = {size}" for size in failing
    ]
