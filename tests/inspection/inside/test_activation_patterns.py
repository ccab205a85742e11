"""Patterns differ exactly where a unit switches."""

import torch
from torch import nn

from netwright.inspection.inside.activation_patterns import activation_patterns
from tests.inspection.untouched import untouched
from tests.repetition import for_each


@for_each(
    ("unit", "kinks"),
    [(nn.ReLU(), 1), (nn.ReLU(inplace=True), 1), (nn.LeakyReLU(), 1), (nn.Hardtanh(), 2)],
)
def test_one_unit_has_a_pattern_for_each_of_its_pieces(unit: nn.Module, kinks: int) -> None:
    model = nn.Sequential(nn.Identity(), unit)
    x = torch.linspace(-3, 3, 41)[:, None]
    seen = activation_patterns(model, x.clone())
    changes = sum(one != after for one, after in zip(seen.digests, seen.digests[1:], strict=False))
    assert (changes, seen.num_units, seen.curved) == (kinks, 1, ())


def test_a_pooling_window_switches_where_another_entry_is_the_largest() -> None:
    x = torch.tensor([[3.0, 1, 0, 0], [2, 1, 0, 0], [1, 3, 0, 0]]).view(3, 1, 2, 2)
    seen = activation_patterns(nn.MaxPool2d(2), x)
    assert seen.num_units == 1
    assert seen.digests[0] == seen.digests[1] != seen.digests[2]


def test_functions_without_straight_pieces_are_named() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.LayerNorm(2), nn.Tanh(), nn.ReLU())
    with untouched(model):
        seen = activation_patterns(model, torch.ones(1, 2))
    assert seen.curved == ("tanh", "layer_norm")
