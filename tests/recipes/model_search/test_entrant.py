"""What an answer costs, and what an entrant remembers."""

import math

import pytest
import torch

from netwright.data.dataset import Split
from netwright.recipes.model_search.entrant import WORST, new_entrant, row_losses

ROWS = torch.zeros(2, 1)


def test_classes_cost_the_logarithm_of_the_probability_of_the_truth() -> None:
    split = Split(inputs=ROWS, targets=torch.tensor([0, 1]))
    answers = torch.tensor([[0.5, 0.5], [1.0, 0.0]])
    costs = row_losses(answers, split, "class", torch.ones(()), split)
    assert costs.tolist() == pytest.approx([math.log(2), -math.log(WORST)])


def test_reals_cost_squares_in_units_of_the_variance() -> None:
    split = Split(inputs=ROWS, targets=torch.tensor([[1.0, 10.0], [3.0, 30.0]]))
    answers = torch.tensor([[2.0, 10.0], [3.0, 50.0]])
    # (1 / 1)^2 and 0, their mean 0.5; 0 and (20 / 10)^2, their mean 2
    spread = torch.tensor([1.0, 10.0])
    assert row_losses(answers, split, "real", spread, split).tolist() == [0.5, 2.0]


def test_the_mean_of_weighted_costs_is_the_weighted_mean() -> None:
    split = Split(inputs=ROWS, targets=torch.zeros(2, 1), weights=torch.tensor([1.0, 3.0]))
    answers = torch.tensor([[2.0], [4.0]])
    costs = row_losses(answers, split, "real", torch.ones(1), split)
    assert float(costs.mean()) == pytest.approx((1 * 4 + 3 * 16) / 4)
    by_folds = [
        row_losses(answers[[n]], split.take(torch.tensor([n])), "real", torch.ones(1), split)
        for n in (0, 1)
    ]
    assert torch.cat(by_folds).tolist() == costs.tolist()


def test_only_what_was_asked_counts() -> None:
    entrant = new_entrant("mlp", rows=4, outputs=1)
    entrant.hear(torch.tensor([1, 3]), torch.zeros(2, 1), torch.tensor([1.0, 3.0]).double(), 0.5)
    assert entrant.was_asked.tolist() == [1, 3]
    assert (entrant.mean_loss, entrant.mean_seconds) == (2.0, 0.5)
