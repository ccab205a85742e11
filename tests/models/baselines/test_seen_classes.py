"""Logits of all classes from scores of those that were seen."""

import math

import torch

from netwright.models.baselines.seen_classes import log_probability, spread_scores


def test_scores_of_all_classes_stay_as_they_are() -> None:
    scores = torch.tensor([[1.0, -2.0]])
    assert spread_scores(scores, torch.arange(2), 2) is scores


def test_a_class_that_was_not_seen_is_never_the_answer() -> None:
    logits = spread_scores(torch.tensor([[-500.0, -900.0], [3.0, 1.0]]), torch.tensor([2, 0]), 4)
    assert logits[:, [2, 0]].tolist() == [[-500.0, -900.0], [3.0, 1.0]]
    assert logits.argmin(dim=1).tolist() == [1, 1]
    assert float(logits[1].softmax(dim=0)[[1, 3]].sum()) < 1e-40


def test_softmax_gives_the_probabilities_back_and_none_is_infinite() -> None:
    shares = torch.tensor([[0.25, 0.75, 0.0]])
    logits = log_probability(shares)
    assert math.isfinite(float(logits.min()))
    torch.testing.assert_close(logits.softmax(dim=1), shares, rtol=0, atol=1e-7)
