"""Linear recurrences: a scan and its steps give the same numbers, with lengths and without."""

from collections.abc import Callable

import torch
from torch import Tensor

from netwright.core.seeding import seeded
from netwright.layers.recurrence.linear_recurrence import (
    LinearRecurrence,
    at_least_single,
)
from netwright.layers.recurrence.linear_recurrent_unit import LinearRecurrentUnit
from netwright.layers.recurrence.minimal_recurrence import MinimalGRU, MinimalLSTM
from netwright.layers.recurrence.recurrence import Recurrence
from netwright.layers.recurrence.residual_recurrence import RecurrenceStack, ResidualRecurrence
from tests.repetition import for_each

KINDS: dict[str, Callable[[], Recurrence]] = {
    "minGRU": lambda: MinimalGRU(3, 5),
    "minLSTM": lambda: MinimalLSTM(3, 5),
    "LRU": lambda: LinearRecurrentUnit(3, 5),
    "block": lambda: ResidualRecurrence(LinearRecurrentUnit(3, 5)),
    "stack": lambda: RecurrenceStack(
        3, [ResidualRecurrence(MinimalGRU(4, 4)), ResidualRecurrence(LinearRecurrentUnit(4, 2))]
    ),
}


def layer(kind: str) -> Recurrence:
    with seeded(0):
        return KINDS[kind]().double().eval()


def series(steps: int, rows: int = 2, columns: int = 3) -> Tensor:
    numbers = torch.Generator().manual_seed(7)
    return torch.randn(rows, steps, columns, generator=numbers, dtype=torch.float64)


def test_the_kind_asks_for_coefficients_only() -> None:
    assert LinearRecurrence.__abstractmethods__ == {"coefficients"}


@for_each("kind", KINDS)
def test_steps_and_scan_give_the_same_numbers(kind: str) -> None:
    recurrence, x = layer(kind), series(20)
    outputs, last = recurrence(x)
    assert outputs.shape == (2, 20, recurrence.output_size)
    state = recurrence.start(2)
    for t in range(20):
        output, state = recurrence.step(x[:, t], state)
        torch.testing.assert_close(output, outputs[:, t], rtol=0, atol=1e-10)
    torch.testing.assert_close(state, last, rtol=0, atol=1e-10)


@for_each("kind", KINDS)
def test_a_sequence_can_be_read_in_two_parts(kind: str) -> None:
    recurrence, x = layer(kind), series(20)
    outputs, last = recurrence(x)
    first, state = recurrence(x[:, :13])
    second, state = recurrence(x[:, 13:], state)
    torch.testing.assert_close(torch.cat((first, second), dim=1), outputs)
    torch.testing.assert_close(state, last)


@for_each("kind", KINDS)
def test_steps_beyond_the_length_do_not_count(kind: str) -> None:
    recurrence, x = layer(kind), series(9, rows=3)
    before = recurrence(x + 1)[1]  # a state that is not the start
    outputs, last = recurrence(x, before, torch.tensor([9, 4, 1]))
    for row, length in enumerate((9, 4, 1)):
        own = torch.utils._pytree.tree_map(lambda part, row=row: part[row : row + 1], before)
        alone, alone_last = recurrence(x[row : row + 1, :length], own)
        if kind != "block":  # what a block adds is zeroed by the stack at the end
            assert not outputs[row, length:].any()
        torch.testing.assert_close(outputs[row : row + 1, :length], alone)
        picked = torch.utils._pytree.tree_map(lambda part, row=row: part[row : row + 1], last)
        torch.testing.assert_close(picked, alone_last)


def test_after_no_step_the_state_is_where_it_began() -> None:
    recurrence, x = layer("minGRU"), series(4)
    start = torch.full((2, 5), 3.0, dtype=torch.float64)
    outputs, last = recurrence(x, start, torch.tensor([0, 4]))
    assert torch.equal(last[0], start[0])
    assert not outputs[0].any()


@for_each("kind", KINDS)
def test_a_later_input_changes_no_earlier_output(kind: str) -> None:
    recurrence, x = layer(kind), series(20)
    changed = x.clone()
    changed[:, 12:] += 1
    assert torch.equal(recurrence(x)[0][:, :12], recurrence(changed)[0][:, :12])


@for_each("kind", KINDS)
def test_gradients_agree_with_finite_differences(kind: str) -> None:
    recurrence, x = layer(kind), series(4, rows=1).requires_grad_()
    names = [name for name, _ in recurrence.named_parameters()]
    values = (x, *(part.detach().requires_grad_() for part in recurrence.parameters()))

    def outputs(x: Tensor, *values: Tensor) -> Tensor:
        parts = dict(zip(names, values, strict=True))
        out: Tensor = torch.func.functional_call(recurrence, parts, (x,))[0]
        return out

    assert torch.autograd.gradcheck(outputs, values, fast_mode=True)


@for_each("kind", KINDS)
def test_mixed_precision_gives_nearly_the_same(kind: str) -> None:
    recurrence, x = layer(kind).float(), series(30).float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed, _ = recurrence(x)
    torch.testing.assert_close(mixed.float(), recurrence(x)[0], rtol=0, atol=0.1)


def test_half_precision_becomes_single_and_the_rest_stays() -> None:
    kinds = (torch.bfloat16, torch.float16, torch.float32, torch.float64)
    wide = [at_least_single(torch.ones(1, dtype=kind)).dtype for kind in kinds]
    assert wide == [torch.float32, torch.float32, torch.float32, torch.float64]
