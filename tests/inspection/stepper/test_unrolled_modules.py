"""Recurrent layers in steps give the numbers of torch's kernels, and the clock shows the time."""

import copy
import re
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence

from netwright.core.errors import ConfigError
from netwright.core.trees import tensors_of
from netwright.inspection.stepper.step_through import step_through
from netwright.inspection.stepper.unrolled_modules import unroll_in_time
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import ELMAN, LSTM
from tests.repetition import for_each

KINDS: list[tuple[type[nn.RNNBase], dict[str, Any]]] = [
    (nn.LSTM, {"batch_first": True}),
    (nn.LSTM, {"num_layers": 2, "bidirectional": True}),
    (nn.GRU, {"bias": False}),
    (nn.RNN, {}),
    (nn.RNN, {"nonlinearity": "relu", "batch_first": True}),
]


@for_each(("kind", "settings"), KINDS, ids=[str(place) for place in range(5)])
@for_each("single", [False, True])
def test_steps_give_what_the_kernel_gives(
    kind: type[nn.RNNBase], settings: dict[str, Any], single: bool
) -> None:
    torch.manual_seed(0)
    whole: nn.Module = kind(2, 3, **settings)  # type: ignore[arg-type]
    stepped = copy.deepcopy(whole)
    unroll_in_time(stepped)
    inputs = torch.randn(4, 2) if single else torch.randn(4, 5, 2)
    for given in ((inputs,), (inputs, whole(inputs)[1])):  # from nothing, and from a state
        for found, wanted in zip(
            tensors_of(stepped(*given)), tensors_of(whole(*given)), strict=True
        ):
            torch.testing.assert_close(found, wanted)


class Holder(nn.Module):
    def __init__(self, part: nn.Module) -> None:
        super().__init__()
        self.part = part

    def forward(self, inputs: Tensor) -> Any:
        return self.part(inputs)


def seen_times(stack: RecurrentStack, calls: int = 1) -> list[str]:
    """What the clock shows at each step of a stack, whose inner step is watched."""
    seen: list[str] = []
    step = stack.cell.step

    def watched(x: Tensor, state: Any, weights: Any) -> Any:
        seen.append(clock.now)
        return step(x, state, weights)

    stack.cell = replace(stack.cell, step=watched)
    model = Holder(stack)
    clock = unroll_in_time(model)
    for _ in range(calls):
        model(torch.zeros(1, 3, 2))
    assert clock.now == ""
    return seen


def test_the_clock_goes_through_each_layer_and_back_in_the_other_direction() -> None:
    assert seen_times(RecurrentStack(ELMAN, 2, 2, layers=2)) == ["t=1", "t=2", "t=3"] * 2
    both = seen_times(RecurrentStack(LSTM, 2, 2, bidirectional=True))
    assert both == ["t=1", "t=2", "t=3", "t=3", "t=2", "t=1"]


def test_a_second_call_goes_on_in_time() -> None:
    assert seen_times(RecurrentStack(ELMAN, 2, 2), calls=2) == [f"t={t}" for t in range(1, 7)]


def test_a_stack_is_changed_where_it_is_and_gives_the_same() -> None:
    torch.manual_seed(0)
    stack, inputs = RecurrentStack(LSTM, 2, 3), torch.randn(2, 4, 2)
    wanted, lengths = stack(inputs, None, torch.tensor([4, 2])), torch.tensor([4, 2])
    model = Holder(stack)
    unroll_in_time(model)
    assert model.part is stack and not stack.fused
    for found, other in zip(
        tensors_of(stack(inputs, None, lengths)), tensors_of(wanted), strict=True
    ):
        torch.testing.assert_close(found, other)


def test_what_cannot_be_unrolled_is_refused() -> None:
    sentence = "an LSTM with a projection of its output cannot be unrolled in time"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        unroll_in_time(nn.LSTM(2, 3, proj_size=2))
    stepped = nn.GRU(2, 3)
    unroll_in_time(stepped)
    with pytest.raises(ConfigError, match=r"^packed sequences cannot be unrolled in time: give"):
        stepped(pack_sequence([torch.zeros(2, 2)]))


class AsInTheWild(nn.Module):
    """Asks its LSTM for its sizes, and calls it by a second name."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(3, 2, batch_first=True)
        self.again = self.rnn

    def forward(self, x: Tensor) -> Tensor:
        self.rnn.flatten_parameters()
        state = x.new_zeros(self.rnn.num_layers, len(x), self.rnn.hidden_size)
        outputs: Tensor = self.again(x, (state, state))[0]
        return outputs.sum()


def test_layers_stay_what_they_were_for_who_asks_them() -> None:
    stepped = step_through(AsInTheWild(), torch.ones(1, 3, 3))
    assert {step.moment for step in stepped.steps} >= {"t=1", "t=2", "t=3"}
    assert {step.where for step in stepped.steps} == {"", "rnn"}
    assert stepped.disagreement < 1e-12


class Doubled(nn.LSTM):
    def forward(self, x: Tensor, hx: Any = None) -> Any:  # type: ignore[override]
        return 2 * super().forward(x, hx)[0].sum()


def test_a_layer_with_a_forward_of_its_own_is_left_as_it_is() -> None:
    torch.manual_seed(0)
    model, x = Doubled(3, 2), torch.ones(3, 1, 3)
    stepped = step_through(model, x)
    assert stepped.loss == pytest.approx(model(x).item(), rel=1e-5)
    assert stepped.disagreement < 1e-12
