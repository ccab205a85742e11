"""A stack is measured by weights that did not see the rows, and holds only what counts."""

import pytest
import torch

from netwright.data.dataset import Split
from netwright.data.split import k_folds
from netwright.recipes.model_search.entrant import Entrant, new_entrant, row_losses
from netwright.recipes.model_search.stack import stack

ROWS = 200
TRUTH = torch.randn(ROWS, 1, generator=torch.Generator().manual_seed(0))
SPLIT = Split(inputs=torch.zeros(ROWS, 1), targets=TRUTH)
FOLDS = [held_out for _, held_out in k_folds(ROWS, 4, seed=0)]
ONE = torch.ones(1)


def said(name: str, answers: torch.Tensor) -> Entrant:
    entrant = new_entrant(name, ROWS, 1)
    losses = row_losses(answers, SPLIT, "real", ONE, SPLIT)
    entrant.hear(torch.arange(ROWS), answers, losses, 1.0)
    return entrant


def noisy(seed: int) -> torch.Tensor:
    return TRUTH + torch.randn(ROWS, 1, generator=torch.Generator().manual_seed(seed))


def test_two_with_errors_of_their_own_are_better_together() -> None:
    first, second = said("ridge", noisy(1)), said("mlp", noisy(2))
    together = stack([first, second], SPLIT, FOLDS, "real", ONE)
    assert together is not None
    assert together.names == ("ridge", "mlp")
    # Of f = y + noise of variance 1 the best weights are 1/3 each, and leave 1/3.
    assert together.weights == pytest.approx((1 / 3, 1 / 3), abs=0.06)
    assert together.entrant.mean_loss == pytest.approx(1 / 3, abs=0.08)
    assert together.entrant.mean_loss < min(first.mean_loss, second.mean_loss)


def test_answers_of_a_fold_are_weighed_by_the_other_folds() -> None:
    entrants = [said("ridge", noisy(1)), said("mlp", noisy(2))]
    before = stack(entrants, SPLIT, FOLDS, "real", ONE)
    rows = FOLDS[0]
    targets = TRUTH.clone()
    targets[rows] *= 3  # weights that had seen these rows would be three times as large
    changed = Split(inputs=SPLIT.inputs, targets=targets)
    after = stack(entrants, changed, FOLDS, "real", ONE)
    assert before is not None
    assert after is not None
    assert torch.equal(after.entrant.answers[rows], before.entrant.answers[rows])
    assert after.weights != before.weights


def test_one_that_does_not_count_is_left_out() -> None:
    perfect, useless = said("ridge", TRUTH.clone()), said("mlp", -TRUTH)
    assert stack([perfect, useless], SPLIT, FOLDS, "real", ONE) is None
    assert stack([perfect], SPLIT, FOLDS, "real", ONE) is None
