"""Every named loss has a card, gives one number an example, and is 0 at best."""

from typing import get_args

import pytest
import torch
from torch import Tensor

from netwright.core.errors import UnknownNameError
from netwright.core.seeding import generator
from netwright.losses.catalog import LOSSES
from netwright.losses.loss import TargetKind

KINDS: tuple[TargetKind, ...] = get_args(TargetKind)
EACH = [(name, kind) for name in LOSSES for kind in KINDS if kind in LOSSES.load(name).of]


def examples(kind: TargetKind, rows: int = 7) -> tuple[Tensor, Tensor]:
    """Outputs (7, 4) and targets of a kind, in double precision."""
    rng = generator(3, kind)
    if kind == "mask":
        logits = torch.randn(rows, 4, 3, 2, generator=rng, dtype=torch.float64)
        return logits, torch.randint(4, (rows, 3, 2), generator=rng).byte()
    if kind in {"tokens", "tags"}:
        logits = torch.randn(rows, 3, 4, generator=rng, dtype=torch.float64)
        return logits, torch.randint(4, (rows, 3), generator=rng)
    outputs = torch.randn(rows, 4, generator=rng, dtype=torch.float64).log_softmax(dim=1)
    if kind == "class":
        return outputs, torch.randint(4, (rows,), generator=rng)
    if kind == "labels":
        return outputs, torch.randint(2, (rows, 4), generator=rng).double()
    return outputs, torch.randn(rows, 4, generator=rng, dtype=torch.float64)


@pytest.mark.parametrize(("name", "kind"), EACH)
def test_one_loss_an_example_and_their_mean(name: str, kind: TargetKind) -> None:
    loss = LOSSES.load(name).function(name, kind)
    outputs, targets = examples(kind)
    each = loss(outputs, targets)
    assert each.shape == (7,)
    assert (each >= 0).all()
    assert loss(outputs, targets, "mean").item() == pytest.approx(each.mean().item(), abs=1e-15)
    alone = torch.cat([loss(outputs[k : k + 1], targets[k : k + 1]) for k in range(7)])
    torch.testing.assert_close(each, alone, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("name", "kind"), EACH)
def test_the_gradient_is_that_of_the_formula(name: str, kind: TargetKind) -> None:
    loss = LOSSES.load(name).function(name, kind)
    outputs, targets = examples(kind)
    assert torch.autograd.gradcheck(
        lambda given: loss(given, targets, "mean"), outputs.requires_grad_()
    )


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_has_a_card(name: str) -> None:
    card = LOSSES.load(name).card
    assert card.sentence.endswith(".")
    assert card.formula
    assert card.symbols
    assert card.source


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown loss 'huder'; did you mean 'huber'\?"):
        LOSSES.load("huder")


def test_each_name_is_for_its_kinds_of_target() -> None:
    assert {name: tuple(LOSSES.load(name).of) for name in LOSSES} == {
        "squared-error": ("real",),
        "absolute-error": ("real",),
        "huber": ("real",),
        "cross-entropy": ("class", "mask", "tokens", "tags"),
        "nll": ("class",),
        "binary-cross-entropy": ("labels",),
        "hinge": ("class", "labels"),
        "perceptron": ("class", "labels"),
        "dice": ("mask",),
        "cross-entropy-dice": ("mask",),
    }
