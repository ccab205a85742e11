"""Batch normalisation and small batches: the spread of means, the losses, and the verdict."""

import pytest

from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.batch_norm_batches import BATCH_NORM_BATCHES, spread_of_means


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(BATCH_NORM_BATCHES)


@pytest.mark.parametrize("size", [2, 8, 64])
def test_the_mean_of_a_batch_is_off_by_one_over_the_root_of_its_size(size: int) -> None:
    spread = spread_of_means(size, 20_000, generator(0, "test"), independent=True)
    assert spread == pytest.approx(size**-0.5, rel=0.02)


def test_copies_in_a_batch_count_once() -> None:
    spread = spread_of_means(8, 20_000, generator(0, "test"), independent=False)
    assert spread == pytest.approx(4**-0.5, rel=0.02)


def test_a_network_that_ignores_its_batches_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "netwright.theory.batch_norm_batches.test_loss", lambda size, *_, **__: 1 + size
    )
    assert not BATCH_NORM_BATCHES.check().holds
