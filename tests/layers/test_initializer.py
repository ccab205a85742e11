"""The kind of an initializer: what it fills, and how it counts the inputs of an output."""

import torch
from torch import nn

from netwright.core.card import Card
from netwright.layers.initializer import Initializer, fan_in
from tests.repetition import for_each


def test_it_fills_a_weight_in_place() -> None:
    card = Card(sentence="All one.", formula="w = 1", source="here")
    weight = torch.zeros(2, 3)
    assert Initializer(fill=nn.init.ones_, card=card)(weight) is weight
    assert bool((weight == 1).all())


@for_each(
    ("layer", "inputs"),
    [
        (nn.Linear(7, 2), 7),
        (nn.Conv1d(3, 5, 4), 12),
        (nn.Conv2d(3, 5, (2, 3)), 18),
        (nn.Conv2d(6, 6, 3, groups=6), 9),
    ],
    ids=str,
)
def test_the_inputs_of_one_output(layer: nn.Linear | nn.Conv1d | nn.Conv2d, inputs: int) -> None:
    assert fan_in(layer.weight) == inputs
