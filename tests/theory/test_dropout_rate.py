"""How many units to keep: the sweep and its verdict."""

import pytest

from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.dropout_rate import DROPOUT_RATE


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(DROPOUT_RATE)


def test_the_loss_at_one_half_is_compared_with_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    def losses(given, kept, seed):  # type: ignore[no-untyped-def]
        return [1 + abs(p - 0.35) for p in kept]

    monkeypatch.setattr("netwright.theory.dropout_rate.test_losses", losses)
    verdict = DROPOUT_RATE.check()
    assert verdict.measured == pytest.approx(1.15)
    assert not verdict.holds
    assert DROPOUT_RATE.check(tolerance=0.2).holds
