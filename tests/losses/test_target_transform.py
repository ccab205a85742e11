"""Curves of targets: worked by hand, there and back, rising wherever they are defined."""

import math

import pytest
import torch

from netwright.losses.target_transform import TRANSFORMS, TransformKind
from tests.repetition import for_each


@for_each(
    ("kind", "target", "bent"),
    [
        ("log", 1.0, 0.0),
        ("log", math.e**2, 2.0),
        ("log1p", 0.0, 0.0),
        ("log1p", math.e - 1, 1.0),
        ("asinh", 0.0, 0.0),
        ("asinh", -math.sinh(3), -3.0),
    ],
)
def test_worked_by_hand(kind: TransformKind, target: float, bent: float) -> None:
    curve = TRANSFORMS[kind]
    assert curve.apply(torch.tensor([[target]])).item() == pytest.approx(bent, abs=1e-6)
    assert curve.undo(torch.tensor([[bent]])).item() == pytest.approx(target, rel=1e-6, abs=1e-6)


@for_each(("kind",), [(kind,) for kind in TRANSFORMS])
def test_no_order_is_lost_and_all_comes_back(kind: TransformKind) -> None:
    curve = TRANSFORMS[kind]
    targets = torch.cat([-torch.logspace(4, -3, 50), torch.logspace(-3, 4, 50)])
    targets = targets[targets > curve.above]
    bent = curve.apply(targets)
    assert (bent.diff() > 0).all()
    torch.testing.assert_close(curve.undo(bent), targets, rtol=1e-4, atol=1e-6)
