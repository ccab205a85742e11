"""The log loss: value, gradient and curvature of every link agree with torch and its autograd."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from netwright.models.linear import log_loss
from netwright.models.linear.log_loss import AgainstFirst, Link, LogLoss, Sigmoid, Softmax

LINKS: dict[str, Link] = {
    "sigmoid": Sigmoid(),
    "softmax": Softmax(),
    "against-first": AgainstFirst(),
}


def problem(name: str, rows: int = 12) -> tuple[LogLoss, Tensor]:
    """A loss of three scores and two inputs, and some weights (3, 3)."""
    numbers = torch.Generator().manual_seed(0)
    classes = torch.randint(4 if name == "against-first" else 3, (rows,), generator=numbers)
    truth = {
        "sigmoid": torch.randint(2, (rows, 3), generator=numbers),
        "softmax": F.one_hot(classes, 3) if name == "softmax" else torch.empty(0),
        "against-first": F.one_hot(classes, 4)[:, 1:]
        if name == "against-first"
        else torch.empty(0),
    }[name].double()
    share = torch.rand(rows, generator=numbers, dtype=torch.float64)
    loss = LogLoss(
        link=LINKS[name],
        inputs=torch.randn(rows, 2, generator=numbers, dtype=torch.float64),
        truth=truth,
        share=share / share.sum(),
        l2=0.3,
    )
    return loss, torch.randn(3, 3, generator=numbers, dtype=torch.float64)


def value(loss: LogLoss, theta: Tensor) -> Tensor:
    """What `misfit` and `penalty` give together, in a form that autograd can follow."""
    scores = loss.scores(theta)
    losses = loss.link.log_normaliser(scores) - (loss.truth * scores).sum(dim=1)
    return loss.share @ losses + loss.l2 / 2 * theta[:, :-1].square().sum()


@pytest.mark.parametrize("name", LINKS)
def test_misfit_is_the_cross_entropy_of_torch(name: str) -> None:
    loss, theta = problem(name)
    scores = loss.scores(theta)
    if name == "sigmoid":
        each = F.binary_cross_entropy_with_logits(scores, loss.truth, reduction="none").sum(dim=1)
    elif name == "softmax":
        each = F.cross_entropy(scores, loss.truth.argmax(dim=1), reduction="none")
    else:
        first = 1 - loss.truth.sum(dim=1, keepdim=True)
        classes = torch.cat((first, loss.truth), dim=1).argmax(dim=1)
        each = F.cross_entropy(F.pad(scores, (1, 0)), classes, reduction="none")
    assert loss.misfit(scores) == pytest.approx((loss.share @ each).item(), rel=1e-12)
    total = loss.misfit(scores) + loss.penalty(theta)
    assert total == pytest.approx(value(loss, theta).item(), rel=1e-12)


@pytest.mark.parametrize("name", LINKS)
def test_gradient_and_curvature_are_those_of_autograd(name: str) -> None:
    loss, theta = problem(name)
    chances = loss.link.chances(loss.scores(theta))
    (slope,) = torch.autograd.grad(value(loss, theta.requires_grad_()), theta)
    torch.testing.assert_close(loss.gradient(chances, theta).detach(), slope)
    expected = torch.autograd.functional.hessian(  # type: ignore[no-untyped-call]
        lambda flat: value(loss, flat.view(3, 3)), theta.detach().flatten()
    )
    torch.testing.assert_close(loss.curvature(chances.detach()), expected)


@pytest.mark.parametrize("name", LINKS)
def test_curvature_in_blocks_is_that_of_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loss, theta = problem(name)
    chances = loss.link.chances(loss.scores(theta))
    whole = loss.curvature(chances)
    monkeypatch.setattr(log_loss, "BLOCK", 5)
    torch.testing.assert_close(loss.curvature(chances), whole)


@pytest.mark.parametrize("name", LINKS)
def test_shift_of_all_scores_is_free_for_the_softmax_alone(name: str) -> None:
    loss, theta = problem(name)
    scores = loss.scores(theta)
    same = torch.allclose(loss.link.chances(scores + 1), loss.link.chances(scores))
    assert same == loss.link.shift_free == (name == "softmax")


def test_curvature_keeps_its_digits_where_a_class_is_all_but_certain() -> None:
    loss, _ = problem("softmax")
    chances = loss.link.chances(torch.tensor([[40.0, 0.0, 0.0]] * 12).double())
    spread = replace(loss, l2=0.0).curvature(chances)[:3, :3]
    assert torch.linalg.eigvalsh(spread).min().item() >= 0
    assert spread[2, 2].item() == pytest.approx(2 * 4.248354255291589e-18, abs=2e-16)


def test_taken_examples_have_shares_that_sum_to_one() -> None:
    loss, theta = problem("softmax")
    rows = torch.tensor([1, 4, 7])
    part = loss.take(rows)
    assert part.share.sum().item() == pytest.approx(1.0)
    assert part.share[0] / part.share[1] == pytest.approx((loss.share[1] / loss.share[4]).item())
    torch.testing.assert_close(part.scores(theta), loss.scores(theta)[rows])
