"""Rows that end early: zeros beyond by hand, and no trace of what fills a row up, NaN included."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from netwright.core.seeding import seeded
from netwright.core.trees import tensors_of
from netwright.layers.recurrence.counted_steps import last_counted, zero_beyond
from netwright.layers.recurrence.jordan import JordanLayer
from netwright.layers.recurrence.linear_recurrent_unit import LinearRecurrentUnit
from netwright.layers.recurrence.minimal_recurrence import MinimalGRU, MinimalLSTM
from netwright.layers.recurrence.recurrence import Recurrence
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import ELMAN, GRU, LSTM
from netwright.layers.recurrence.residual_recurrence import RecurrenceStack, ResidualRecurrence
from netwright.layers.recurrence.sequence_pooling import Pooling, pool_steps
from tests.repetition import for_each

LENGTHS = torch.tensor([0, 3, 5, 1])
RECURRENCES: dict[str, Callable[[], Recurrence]] = {
    "fused lstm": lambda: RecurrentStack(LSTM, 3, 4, 2, bidirectional=True),
    "fused gru": lambda: RecurrentStack(GRU, 3, 4),
    "elman by steps": lambda: RecurrentStack(ELMAN, 3, 4, 2, bidirectional=True, fused=False),
    "jordan": lambda: JordanLayer(3, 4, 2),
    "minGRU": lambda: MinimalGRU(3, 4),
    "minLSTM": lambda: MinimalLSTM(3, 4),
    "LRU": lambda: LinearRecurrentUnit(3, 4),
    "block": lambda: ResidualRecurrence(LinearRecurrentUnit(3, 4)),
    "stack": lambda: RecurrenceStack(3, [ResidualRecurrence(MinimalGRU(4, 4))]),
}


def filled_up(number: float) -> Tensor:
    """Rows of which the first steps are always the same, and the others this number."""
    drawn = torch.randn(4, 5, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    beyond = torch.arange(5) >= LENGTHS[:, None]
    return drawn.masked_fill(beyond[:, :, None], number).requires_grad_()


def test_steps_and_states_by_hand() -> None:
    steps = torch.tensor([[[1.0], [2.0], [math.nan]]]).repeat(3, 1, 1)
    lengths = torch.tensor([0, 1, 2])
    assert zero_beyond(steps, lengths).squeeze(2).tolist() == [[0, 0, 0], [1, 0, 0], [1, 2, 0]]
    start = torch.full((3, 1), 9.0)
    assert last_counted(steps, lengths, start).flatten().tolist() == [9.0, 1.0, 2.0]


@for_each("filling", [math.nan, math.inf])
@for_each("name", RECURRENCES)
def test_what_fills_a_row_up_leaves_no_trace_in_values_and_gradients(
    name: str, filling: float
) -> None:
    with seeded(0):
        recurrence = RECURRENCES[name]().double()

    def everything(number: float) -> list[Tensor]:
        inputs = filled_up(number)
        outputs, state = recurrence(inputs, lengths=LENGTHS)
        ends = list(tensors_of(state))
        asked = outputs.square().sum() + sum(end.square().sum() for end in ends)
        sources = [inputs, *recurrence.parameters()]
        return [outputs, *ends, *torch.autograd.grad(asked, sources)]

    for found, wanted in zip(everything(filling), everything(0.5), strict=True):
        assert torch.equal(found, wanted)


@pytest.mark.parametrize("pooling", ["last", "mean", "max"])
def test_pooling_leaves_none_either(pooling: Pooling) -> None:
    lengths = LENGTHS.clamp(min=1)

    def everything(number: float) -> list[Tensor]:
        outputs = filled_up(number)
        pooled = pool_steps(outputs[1:], pooling, lengths[1:])
        return [pooled, *torch.autograd.grad(pooled.square().sum(), outputs)]

    for found, wanted in zip(everything(math.nan), everything(0.5), strict=True):
        assert torch.equal(found, wanted)
