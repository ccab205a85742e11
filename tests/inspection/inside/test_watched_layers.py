"""Layers: the innermost modules with a matrix that are called."""

import torch
from torch import Tensor, nn

from netwright.core.outputs import Output
from netwright.inspection.inside.watched_layers import (
    has_matrix,
    layer_name,
    spread_evenly,
    watching_layers,
)
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import LSTM, LSTM_CELL_GATE, Cell
from tests.inspection.untouched import untouched


def layers_of(model: nn.Module, *inputs: Tensor) -> list[tuple[str, list[tuple[int, ...]]]]:
    found: list[tuple[str, list[tuple[int, ...]]]] = []
    with (
        untouched(model),
        watching_layers(
            model, lambda path, _, out: found.append((path, [tuple(one.shape) for one in out]))
        ),
    ):
        model(*inputs)
    return found


def test_layers_hold_matrices_and_norms_and_activations_are_none() -> None:
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten())
    model = nn.Sequential(model.eval(), nn.Linear(8, 3))
    assert layers_of(model, torch.zeros(5, 1, 4, 4)) == [("0.0", [(5, 2, 2, 2)]), ("1", [(5, 3)])]
    assert not has_matrix(nn.LayerNorm(3))
    assert has_matrix(model)


def test_a_layer_that_is_called_twice_is_noted_twice() -> None:
    model = nn.Linear(2, 2)
    assert [path for path, _ in layers_of(nn.Sequential(model, model), torch.zeros(1, 2))] == [
        "0",
        "0",
    ]


def test_a_recurrence_is_one_layer_whether_torch_has_its_cell_or_not() -> None:
    def shapes(cell: Cell) -> list[tuple[str, list[tuple[int, ...]]]]:
        return layers_of(RecurrentStack(cell, 3, 4), torch.zeros(2, 5, 3))

    assert shapes(LSTM) == [("rnn", [(2, 5, 4), (1, 2, 4), (1, 2, 4)])]
    assert shapes(LSTM_CELL_GATE) == [("", [(2, 5, 4), (2, 1, 4), (2, 1, 4)])]


def test_real_tensors_are_found_in_dataclasses_and_whole_numbers_are_left_out() -> None:
    class Two(nn.Linear):
        def forward(self, x: Tensor) -> Output:  # type: ignore[override]
            return Output(logits=super().forward(x), aux=(x.long(), x))

    assert layers_of(Two(2, 3), torch.zeros(4, 2)) == [("", [(4, 3), (4, 2)])]


def test_of_a_long_path_the_end_is_shown_and_of_many_layers_some_evenly() -> None:
    assert layer_name("") == "model"
    assert layer_name("head") == "head"
    assert layer_name("backbone.blocks.0.recurrence.update_gate", 12) == "…update_gate"
    assert spread_evenly(range(5), 9) == [0, 1, 2, 3, 4]
    assert spread_evenly(range(9), 3) == [0, 4, 8]
