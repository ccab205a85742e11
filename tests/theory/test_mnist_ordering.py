"""Four classifiers of digits: the small digits, the Gaussian ones, and MNIST's findings."""

import pytest
import torch

from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory import mnist_ordering
from netwright.theory.held_out import digits
from netwright.theory.mnist_ordering import CLASSIFIERS, MNIST_ORDERING, gaussian


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(MNIST_ORDERING)


def test_gaussian_digits_have_the_means_of_the_real_ones() -> None:
    real = digits(1200, 0)
    drawn = gaussian(real, 0)
    for label in range(10):
        wanted, found = (
            data.train.inputs[data.train.targets == label].mean(0) for data in (real, drawn)
        )
        assert torch.allclose(wanted, found, atol=0.15)
    assert torch.equal(drawn.train.targets, real.train.targets)


def faked(monkeypatch: pytest.MonkeyPatch, errors: dict[str, float]) -> None:
    """MNIST at hand, and classifiers with these errors."""
    monkeypatch.setattr(mnist_ordering, "has_mnist", lambda: True)
    monkeypatch.setattr(mnist_ordering, "load", lambda _: digits(600, 0))
    monkeypatch.setattr(mnist_ordering, "test_error", lambda one, *_: errors[one.name])


def test_with_mnist_at_hand_order_and_errors_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = {one.name: one.printed for one in CLASSIFIERS}
    faked(monkeypatch, printed)
    verdict = MNIST_ORDERING.check(size="full")
    assert verdict.holds
    assert len(verdict.findings) == 7
    for name, error in printed.items():
        faked(monkeypatch, {**printed, name: error + 0.6})
        assert not MNIST_ORDERING.check(size="full").holds


def test_without_mnist_the_full_check_uses_the_small_digits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faked(monkeypatch, {one.name: one.printed for one in CLASSIFIERS})
    monkeypatch.setattr(mnist_ordering, "has_mnist", lambda: False)
    verdict = MNIST_ORDERING.check(size="full")
    assert len(verdict.findings) == 3
    assert "small digits" in verdict.chart.explanation
