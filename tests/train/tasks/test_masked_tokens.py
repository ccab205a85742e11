"""Pre-training: both losses are means that are added, and each thing is measured apart."""

import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.data.spec import IGNORED
from netwright.train.tasks.catalog import task_from_json
from netwright.train.tasks.masked_tokens import MaskedTokens

TARGETS = torch.tensor([[0, 4, IGNORED, 5], [1, IGNORED, IGNORED, 4]])


def batch(weights: torch.Tensor | None = None) -> Batch:
    return Batch(torch.zeros(2, 4), TARGETS, weights, torch.arange(2))


def logits() -> torch.Tensor:
    drawn = torch.randn(2, 4, 6, generator=torch.Generator().manual_seed(0)).double()
    drawn[:, 0, 2:] = -1e4
    return drawn


def test_the_loss_is_the_mean_of_the_chosen_tokens_and_the_mean_of_the_pairs() -> None:
    given = logits()
    tokens = cross_entropy(given[[0, 0, 1], [1, 3, 3]], torch.tensor([4, 5, 4]))
    pairs = cross_entropy(given[:, 0, :2], torch.tensor([0, 1]))
    torch.testing.assert_close(MaskedTokens(6).loss(given, batch()), tokens + pairs)


def test_places_that_were_not_chosen_have_no_gradient() -> None:
    given = logits().requires_grad_()
    (slope,) = torch.autograd.grad(MaskedTokens(6).loss(given, batch()), given)
    assert bool((slope[[0, 1, 1], [2, 1, 2]] == 0).all())
    assert bool((slope[[0, 0, 1, 0, 1], [1, 3, 3, 0, 0]] != 0).any(dim=1).all())


def test_smoothing_is_of_the_tokens() -> None:
    given = logits()
    plain, smooth = MaskedTokens(6), MaskedTokens(6, smoothing=0.1)
    assert not torch.isclose(plain.loss(given, batch()), smooth.loss(given, batch()))


def test_tokens_and_pairs_are_measured_apart() -> None:
    task, sure = MaskedTokens(6), torch.full((2, 4, 6), -20.0).double()
    for row, place, said in ((0, 0, 0), (1, 0, 0), (0, 1, 4), (0, 3, 4), (1, 3, 4)):
        sure[row, place, said] = 20
    found = task.measure(task.compared(task.predictions(sure), TARGETS), TARGETS)
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["next_accuracy"] == 0.5
    assert int(task.counted(TARGETS)) == 3
    assert task.counted_each(TARGETS).tolist() == [2, 1]
    assert float(task.headline_sum(sure, TARGETS, None)) == 2


def test_the_baseline_knows_the_shares_of_tokens_and_says_that_all_follow() -> None:
    task, train = MaskedTokens(6), Split(inputs=torch.zeros(2, 4), targets=TARGETS)
    guess = task.baseline(train)
    assert guess.tolist() == pytest.approx([1 / 9, 1 / 9, 1 / 9, 1 / 9, 3 / 9, 2 / 9])
    found = task.measure(task.guessed(guess, TARGETS), TARGETS)
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["perplexity"] == pytest.approx(math.exp(-math.log(3 * 3 * 2 / 9**3) / 3))
    assert found["next_accuracy"] == 0.5


def test_it_travels_as_json() -> None:
    task = task_from_json(MaskedTokens(6).to_json())
    assert isinstance(task, MaskedTokens)
