"""The softmax by hand: torch's values, no overflow, its slope, and the losses built on it."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from netwright.core.errors import DataError
from netwright.layers.softmax import log_sum_exp, softmax, softmax_jacobian
from netwright.metrics.probability import log_loss
from netwright.metrics.samples import check_probabilities, check_rows_sum_to_one


def logits(rows: int = 6, classes: int = 4, seed: int = 0) -> Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return 2 * torch.randn(rows, classes, generator=numbers, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)


def test_both_are_those_of_torch() -> None:
    close(softmax(logits()), logits().softmax(dim=1))
    close(log_sum_exp(logits()), logits().logsumexp(dim=1))


@pytest.mark.covers("log-sum-exp")
def test_cross_entropy_is_log_sum_exp_minus_the_true_logit() -> None:
    o, y = logits(), softmax(logits(seed=1))
    by_parts = log_sum_exp(o) - (y * o).sum(dim=1)
    close(by_parts, -(y * softmax(o).log()).sum(dim=1))
    far, truth = torch.tensor([1000.0, 0.0]), torch.tensor([0.0, 1.0])
    assert (log_sum_exp(far) - truth @ far).item() == 1000.0
    assert softmax(far).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("size", [1e9, torch.finfo(torch.float32).max])
def test_large_logits_leave_chances_that_sum_to_one(size: float) -> None:
    for large in (size, -size):
        assert softmax(torch.tensor([large, large])).tolist() == [0.5, 0.5]


@pytest.mark.covers("softmax-jacobian")
def test_jacobian_is_that_of_differences_and_its_rows_sum_to_zero() -> None:
    o = logits()
    found = softmax_jacobian(softmax(o))
    assert found.shape == (6, 4, 4)
    step = 1e-6
    for place in range(4):
        moved = step * torch.eye(4, dtype=torch.float64)[place]
        close(found[:, :, place], (softmax(o + moved) - softmax(o - moved)) / (2 * step), 1e-9)
    close(found.sum(dim=2), torch.zeros(6, 4, dtype=torch.float64), 1e-15)
    close(found, found.mT)
    p = softmax(o)
    close(found.diagonal(dim1=1, dim2=2), p * (1 - p))


def test_slope_of_the_loss_by_the_chances_leads_through_the_jacobian_to_chance_minus_truth() -> (
    None
):
    p, y = softmax(logits()), F.one_hot(torch.arange(6) % 4, 4).double()
    by_chances = -y / p  # often printed without its minus
    close((softmax_jacobian(p) @ by_chances[:, :, None])[:, :, 0], p - y)


@pytest.mark.covers("probability-simplex")
def test_softmax_and_one_hot_are_distributions_and_others_are_refused() -> None:
    for good in (softmax(logits()), F.one_hot(torch.arange(3), 3).double()):
        check_probabilities(good)
        check_rows_sum_to_one(good)
    with pytest.raises(DataError, match=r"^probabilities must lie in \[0, 1\], got -0.5$"):
        check_probabilities(torch.tensor([[1.5, -0.5]]))
    with pytest.raises(DataError, match=r"^a row .* must sum to 1, got 0.9 in row 0$"):
        check_rows_sum_to_one(torch.tensor([[0.5, 0.4]]))


@pytest.mark.covers("one-hot-encoding")
def test_one_hot_rows_hold_a_single_one() -> None:
    words = ["apple", "banana", "cherry", "orange", "pear"]
    assert F.one_hot(torch.tensor(words.index("banana")), 5).tolist() == [0, 1, 0, 0, 0]
    classes = torch.arange(20) % 5
    rows = F.one_hot(classes, 5)
    assert torch.equal(rows.argmax(dim=1), classes)
    assert rows.sum(dim=1).tolist() == [1] * 20


@pytest.mark.covers("cross-entropy")
def test_cross_entropy_is_entropy_and_divergence() -> None:
    p, q = softmax(logits(40)), softmax(logits(40, seed=1))

    def cross_entropy(of: Tensor, by: Tensor) -> Tensor:
        return F.cross_entropy(by.log(), of, reduction="none")

    entropy = torch.distributions.Categorical(p).entropy()  # type: ignore[no-untyped-call]
    close(cross_entropy(p, p), entropy)
    divergence = F.kl_div(q.log(), p, reduction="none").sum(dim=1)
    close(cross_entropy(p, q) - entropy, divergence)
    assert divergence.min().item() > 0
    even = torch.full((1, 7), 1 / 7, dtype=torch.float64)
    truth = F.one_hot(torch.tensor([3]), 7).double()
    assert cross_entropy(truth, even).item() == pytest.approx(math.log(7))
    assert log_loss(even, torch.tensor([3])) == pytest.approx(math.log(7))


@pytest.mark.covers("binary-cross-entropy")
def test_binary_cross_entropy_from_logits_is_stable() -> None:
    def from_logits(z: Tensor, y: Tensor) -> Tensor:
        return z.clamp_min(0) - z * y + torch.log1p(torch.exp(-z.abs()))

    z = logits().flatten().requires_grad_()
    y = (torch.arange(24) % 2).double()
    p = torch.sigmoid(z)
    close(from_logits(z, y), -(y * p.log() + (1 - y) * (1 - p).log()))
    close(from_logits(z, y), -F.logsigmoid((2 * y - 1) * z))
    close(from_logits(z, y), F.binary_cross_entropy_with_logits(z, y, reduction="none"))
    # Of two classes with logits (0, z) it is the cross-entropy of the softmax.
    pairs = torch.stack((torch.zeros_like(z), z), dim=1)
    close(from_logits(z, y), log_sum_exp(pairs) - y * z)
    (slope,) = torch.autograd.grad(F.binary_cross_entropy_with_logits(z, y, reduction="sum"), z)
    close(slope, (p - y).detach())
    half = F.binary_cross_entropy(torch.tensor(0.5), torch.tensor(1.0))
    assert half.item() == pytest.approx(math.log(2))
    far = torch.tensor([1000.0, -1000.0, 1000.0, -1000.0])
    losses = F.binary_cross_entropy_with_logits(
        far, torch.tensor([1.0, 0.0, 0.0, 1.0]), reduction="none"
    )
    assert losses.tolist() == [0.0, 0.0, 1000.0, 1000.0]


@pytest.mark.covers("negative-log-likelihood")
def test_negative_log_likelihood_falls_with_the_chance_of_the_truth() -> None:
    def nll(chance: float) -> float:
        return log_loss(
            torch.tensor([[1 - chance, chance]], dtype=torch.float64), torch.tensor([1])
        )

    assert nll(1.0) == 0.0
    assert nll(0.5) == pytest.approx(0.6931, abs=5e-5)
    values = [nll(chance) for chance in np.linspace(0.001, 1, 50)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 50
    o, classes = logits(), torch.arange(6) % 4
    truth = F.one_hot(classes, 4).double()
    by_nll = F.nll_loss(o.log_softmax(dim=1), classes)
    assert by_nll.item() == pytest.approx(-(truth * softmax(o).log()).sum(dim=1).mean().item())
    assert by_nll.item() == pytest.approx(log_loss(softmax(o), classes))
