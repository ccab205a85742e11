"""Every named loss has a card, gives one number an example, and is 0 at best."""

from typing import Any, get_args

import pytest
import torch
from torch import Tensor

from netwright.core.errors import UnknownNameError
from netwright.core.seeding import generator
from netwright.losses.catalog import LOSSES
from netwright.losses.loss import TargetKind
from tests.repetition import for_each

KINDS: tuple[TargetKind, ...] = get_args(TargetKind)
EACH = [(name, kind) for name in LOSSES for kind in KINDS if kind in LOSSES.load(name).of]


def examples(kind: TargetKind, rows: int = 7) -> tuple[Tensor, Tensor]:
    """Outputs (7, 4) and targets of a kind, in double precision."""
    rng = generator(3, kind)
    if kind == "mask":
        logits = torch.randn(rows, 4, 3, 2, generator=rng, dtype=torch.float64)
        return logits, torch.randint(4, (rows, 3, 2), generator=rng).byte()
    if kind == "boxes":
        outputs = torch.randn(rows, 3, 9, generator=rng, dtype=torch.float64)
        classes = torch.randint(-1, 4, (rows, 2, 1), generator=rng).double()
        boxes = torch.rand(rows, 2, 4, generator=rng, dtype=torch.float64) * 0.5 + 0.25
        return outputs, torch.cat((classes, boxes), dim=2)
    if kind in {"tokens", "tags"}:
        logits = torch.randn(rows, 3, 4, generator=rng, dtype=torch.float64)
        return logits, torch.randint(4, (rows, 3), generator=rng)
    outputs = torch.randn(rows, 4, generator=rng, dtype=torch.float64).log_softmax(dim=1)
    if kind == "class":
        return outputs, torch.randint(4, (rows,), generator=rng)
    if kind == "labels":
        return outputs, torch.randint(2, (rows, 4), generator=rng).double()
    return outputs, torch.randn(rows, 4, generator=rng, dtype=torch.float64)


@for_each(("name", "kind"), EACH)
def test_one_loss_an_example_their_mean_and_their_sum(name: str, kind: TargetKind) -> None:
    loss = LOSSES.load(name).function(name, kind)
    outputs, targets = examples(kind)
    each = loss(outputs, targets)
    assert each.shape == (7,)
    assert (each >= 0).all()
    assert loss(outputs, targets, "mean").item() == pytest.approx(each.mean().item(), abs=1e-15)
    assert loss(outputs, targets, "sum").item() == pytest.approx(each.sum().item(), abs=1e-14)
    alone = torch.cat([loss(outputs[k : k + 1], targets[k : k + 1]) for k in range(7)])
    torch.testing.assert_close(each, alone, rtol=0, atol=1e-15)


@for_each(("name", "kind"), EACH)
def test_the_gradient_is_that_of_the_formula(name: str, kind: TargetKind) -> None:
    loss = LOSSES.load(name).function(name, kind)
    outputs, targets = examples(kind)
    assert torch.autograd.gradcheck(
        lambda given: loss(given, targets, "mean"), outputs.requires_grad_()
    )


OF_CLASSES = [(name, kind) for name, kind in EACH if kind not in {"real", "boxes"}]


@for_each(("name", "kind"), OF_CLASSES)
def test_equal_class_weights_change_nothing_and_others_do(name: str, kind: TargetKind) -> None:
    loss: Any = LOSSES.load(name).function(name, kind)
    outputs, targets = examples(kind)
    alike, odd = torch.ones(4).double(), torch.tensor([0.5, 3.0, 1.0, 1.0]).double()
    for reduction in ("none", "mean", "sum"):
        plain = loss(outputs, targets, reduction)
        torch.testing.assert_close(loss(outputs, targets, reduction, class_weights=alike), plain)
        assert not torch.allclose(loss(outputs, targets, reduction, class_weights=odd), plain)


@for_each(("name", "kind"), OF_CLASSES)
def test_what_is_ignored_has_no_part_in_the_loss(name: str, kind: TargetKind) -> None:
    loss: Any = LOSSES.load(name).function(name, kind)
    outputs, targets = examples(kind)
    targets = targets.long()
    weights = torch.tensor([0.5, 3.0, 1.0, 1.0]).double()
    shown = torch.zeros_like(targets, dtype=torch.bool)
    shown.flatten()[::2] = True
    ignored = targets.masked_fill(~shown, 77)
    moved = outputs.clone().requires_grad_()
    total = loss(moved, ignored, "mean", class_weights=weights, ignore_index=77)
    (slope,) = torch.autograd.grad(total, moved)
    assert torch.isfinite(total)
    places = slope.mT if kind in {"tokens", "tags"} else slope  # classes come second, as in torch
    unseen = ~shown if kind == "labels" else ~shown[:, None].expand_as(places)
    assert places[unseen].abs().max() == 0 < places[~unseen].abs().max()


@for_each("name", LOSSES)
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
        "focal": ("class", "labels", "mask", "tokens", "tags"),
        "nll": ("class",),
        "binary-cross-entropy": ("labels",),
        "hinge": ("class", "labels"),
        "perceptron": ("class", "labels"),
        "dice": ("mask",),
        "set-prediction": ("boxes",),
        "cross-entropy-dice": ("mask",),
    }
