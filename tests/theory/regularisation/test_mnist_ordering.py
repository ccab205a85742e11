"""Four classifiers of digits: the small digits, the Gaussian ones, and MNIST's findings."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from netwright.data.dataset import Data
from netwright.theory.held_out import digits
from netwright.theory.regularisation import mnist_ordering
from netwright.theory.regularisation.mnist_ordering import CLASSIFIERS, MNIST_ORDERING, gaussian
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
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


def test_an_order_that_is_reversed_by_more_than_chance_fails_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    printed = [one.printed for one in CLASSIFIERS]
    reversed_ = [2.3, 1.8, *printed[2:]]
    faked(monkeypatch, dict(zip([one.name for one in CLASSIFIERS], reversed_, strict=True)))
    (failed,) = (one for one in MNIST_ORDERING.check(size="full").findings if not one.holds)
    assert failed.what == "test error on MNIST, L2 less dropout, points"
    assert failed.measured == pytest.approx(-0.5)


def test_each_try_draws_gaussian_images_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    def noted(data: Data, seed: int) -> Data:
        drawn.append(seed)
        return data

    monkeypatch.setattr(mnist_ordering, "gaussian", noted)
    monkeypatch.setattr(mnist_ordering, "test_error", lambda *_: 1.0)
    MNIST_ORDERING.check(handwritten=False)
    assert len(set(drawn)) == len(drawn) == 6


@pytest.mark.slow
@pytest.mark.covers("mnist-results-table")
def test_on_mnist_no_later_one_beats_an_earlier_one_by_more_than_chance(
    real_data: Callable[[str], Path],
) -> None:
    real_data("mnist/train-images-idx3-ubyte.gz")
    verdict = MNIST_ORDERING.check(size="full")
    assert verdict.holds, verdict
    assert verdict.n == 10_000


def test_without_mnist_the_full_check_uses_the_small_digits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faked(monkeypatch, {one.name: one.printed for one in CLASSIFIERS})
    monkeypatch.setattr(mnist_ordering, "has_mnist", lambda: False)
    verdict = MNIST_ORDERING.check(size="full")
    assert len(verdict.findings) == 3
    assert "small digits" in verdict.chart.explanation
