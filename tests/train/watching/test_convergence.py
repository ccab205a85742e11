"""Convergence: what is left of a gradient, by hand; losses that still fall; what is told."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import nn

from netwright.data.dataset import Split
from netwright.train.settings import TrainConfig
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.regression import Regression
from netwright.train.watching.convergence import (
    SURE,
    gradient_left,
    no_finite_optimum,
    not_converged,
    not_converged_convex,
)
from netwright.train.watching.history import History, Row
from tests.repetition import for_each

CPU = TrainConfig(device="cpu")


def line(slope: float, bias: float) -> nn.Linear:
    model = nn.Linear(1, 1)
    with torch.no_grad():
        model.weight.fill_(slope)
        model.bias.fill_(bias)
    return model


def reals(x: Sequence[float], y: Sequence[float], weights: Sequence[float] | None = None) -> Split:
    return Split(
        inputs=torch.tensor(x)[:, None],
        targets=torch.tensor(y)[:, None],
        weights=None if weights is None else torch.tensor(weights),
    )


def squared() -> Regression:
    return Regression(torch.zeros(1), torch.ones(1))


def test_a_gradient_worked_by_hand() -> None:
    """Of mean (w x + b - y)^2 at 0: -2 mean(y x) and -2 mean(y)."""
    rows = reals([1.0, 2.0], [2.0, 4.0])
    assert gradient_left(line(0.0, 0.0), squared(), rows, CPU) == 1.0
    # At w = 1, b = 0: residuals -1 and -2, gradient -2 (1 + 4) / 2 and -2 (1 + 2) / 2.
    at_one = math.hypot(5, 3) / math.hypot(10, 6)
    assert gradient_left(line(1.0, 0.0), squared(), rows, CPU) == pytest.approx(at_one)
    assert gradient_left(line(2.0, 0.0), squared(), rows, CPU) == 0.0


def test_a_penalty_is_a_part_of_the_loss() -> None:
    """(w - 2)^2 mean(x^2) + l2 / 2 w^2 is least where 5 (w - 2) + l2 w = 0."""
    rows = reals([1.0, 2.0, -1.0, -2.0], [2.0, 4.0, -2.0, -4.0])
    config = TrainConfig(device="cpu", l2=5.0)
    assert gradient_left(line(1.0, 0.0), squared(), rows, config) == pytest.approx(0, abs=1e-6)
    assert gradient_left(line(2.0, 0.0), squared(), rows, config) > 0.5


def test_weights_of_rows_count() -> None:
    rows = reals([1.0, 1.0], [1.0, 9.0], weights=[2.0, 0.0])
    assert gradient_left(line(1.0, 0.0), squared(), rows, CPU) == 0.0


def test_rows_in_parts_are_the_same_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    model, inputs = nn.Linear(4, 3), torch.randn(50, 4)
    rows = Split(inputs=inputs, targets=torch.randint(3, (50,)))
    at_once = gradient_left(model, Classification(3), rows, CPU)
    monkeypatch.setattr("netwright.train.watching.convergence.AT_ONCE", 7)
    assert gradient_left(model, Classification(3), rows, CPU) == pytest.approx(at_once, rel=1e-5)


def test_nothing_is_left_behind() -> None:
    model, before = line(1.0, 0.5), torch.get_rng_state()
    gradient_left(model, squared(), reals([1.0], [3.0]), CPU)
    assert (model.weight.item(), model.bias.item()) == (1.0, 0.5)
    assert model.weight.grad is None
    assert torch.equal(torch.get_rng_state(), before)


def test_targets_of_0_have_their_optimum_at_0() -> None:
    assert gradient_left(line(0.0, 0.0), squared(), reals([1.0], [0.0]), CPU) == 0.0


def test_a_convex_loss_that_is_left_early_is_told() -> None:
    assert not_converged_convex(0.02, 30) is None
    found = not_converged_convex(0.19, 30)
    assert found is not None
    assert found.illness == "not-converged"
    assert "19% of the gradient remains after 30 epochs" in found.sentence


def history(train: Sequence[float], val: Sequence[float] = (), right: float = 0.5) -> History:
    told = History()
    for epoch, loss in enumerate(train):
        moment: dict[str, Any] = {"step": epoch, "epoch": epoch + 1, "samples": 0, "time": 0.0}
        told.rows.append(Row(**moment, split="train", name="loss", value=loss))
        told.rows.append(Row(**moment, split="train", name="accuracy", value=right))
        if val:
            told.rows.append(Row(**moment, split="val", name="loss", value=val[epoch]))
    return told


FALLING = [2.0 - 0.1 * epoch for epoch in range(12)]
LEVEL = [2.0 * 0.5**epoch for epoch in range(12)]


def test_a_loss_that_still_falls_is_told_where_validation_falls_too() -> None:
    found = not_converged(history(FALLING, FALLING))
    assert found is not None
    assert found.illness == "not-converged"
    assert "the train loss from 1.3 to 1 and the val loss from 1.3 to 1" in found.sentence
    assert not_converged(history(FALLING)) is not None
    assert not_converged(history(FALLING, LEVEL)) is None


@pytest.mark.parametrize("losses", [FALLING[:8], [10.0, 5.0, 3.0, 2.0, 1.0, 1.0, 0.0, 0.0]])
def test_eight_epochs_and_a_tenth_of_the_fall_are_enough(losses: list[float]) -> None:
    assert not_converged(history(losses, losses)) is not None


HIGH_AND_LEVEL = [1.0 + loss for loss in LEVEL]


@for_each("losses", [LEVEL, HIGH_AND_LEVEL, FALLING[:7], FALLING[::-1], [1.0] * 12, []])
def test_a_loss_that_is_level_short_or_rising_is_not(losses: list[float]) -> None:
    assert not_converged(history(losses, losses)) is None


def test_classes_without_a_mistake_have_no_finite_optimum() -> None:
    found = no_finite_optimum(history([0.5, 0.001], right=1.0))
    assert found is not None
    assert found.illness == "separable-classes"
    assert "train.l2=0.001" in found.fix
    assert no_finite_optimum(history([0.5, 0.001], right=0.99)) is None
    assert no_finite_optimum(history([0.5, SURE], right=1.0)) is not None
    assert no_finite_optimum(history([0.5, 0.2], right=1.0)) is None
    assert no_finite_optimum(History()) is None
