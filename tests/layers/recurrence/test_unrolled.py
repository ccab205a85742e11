"""The written-out recurrence: the same step over and over, short rows, and both directions."""

import pytest
import torch
from torch import Tensor

from netwright.layers.recurrence.recurrent_cells import States
from netwright.layers.recurrence.unrolled import unroll


class Counted:
    """s_t = 0.5 s_{t-1} + x_t, and how often it was asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Tensor, state: States) -> States:
        self.calls += 1
        return (0.5 * state[0] + x,)


ZERO = (torch.zeros(2, 1),)


@pytest.mark.covers("rnn-dynamical-system")
def test_three_states_are_two_applications_of_one_map() -> None:
    step = Counted()
    first = torch.tensor([[1.0], [-2.0]])
    nothing = torch.zeros(2, 2, 1)
    _, (last,) = unroll(step, nothing, (first,))
    assert step.calls == 2  # tau - 1
    by_hand = step(nothing[:, 1], step(nothing[:, 0], (first,)))[0]  # s_3 = f(f(s_1))
    assert torch.equal(last, by_hand)

    x = torch.arange(6.0).reshape(2, 3, 1)  # driven: h_3 = g_3(x_3, x_2, x_1)
    _, (last,) = unroll(step, x, ZERO)
    assert torch.equal(last, x[:, 2] + 0.5 * x[:, 1] + 0.25 * x[:, 0])


@pytest.mark.covers("rnn-limitations")
@pytest.mark.parametrize("length", [3, 30])
def test_one_map_reads_any_length_and_takes_as_many_steps(length: int) -> None:
    step = Counted()
    outputs, _ = unroll(step, torch.ones(2, length, 1), ZERO)
    assert outputs.shape == (2, length, 1)
    assert step.calls == length


def test_short_rows_end_early_and_leave_zeros() -> None:
    x = torch.arange(1.0, 7).reshape(2, 3, 1)
    outputs, (last,) = unroll(Counted(), x, ZERO, torch.tensor([2, 0]))
    assert outputs[:, :, 0].tolist() == [[1, 2.5, 0], [0, 0, 0]]
    assert last[:, 0].tolist() == [2.5, 0]


def test_backward_begins_at_the_end_of_each_row() -> None:
    x = torch.arange(1.0, 7).reshape(2, 3, 1)
    outputs, (last,) = unroll(Counted(), x, ZERO, torch.tensor([2, 3]), backward=True)
    assert outputs[:, :, 0].tolist() == [[2, 2, 0], [8, 8, 6]]
    assert last[:, 0].tolist() == [2, 8]
    whole, _ = unroll(Counted(), x.flip(1), ZERO)
    assert torch.equal(unroll(Counted(), x, ZERO, backward=True)[0], whole.flip(1))


def test_outputs_do_not_depend_on_what_fills_a_row_up() -> None:
    x = torch.randn(2, 4, 1, generator=torch.Generator().manual_seed(0))
    other = x.clone()
    other[0, 2:] = 100
    lengths = torch.tensor([2, 4])
    for backward in (False, True):
        outputs, (last,) = unroll(Counted(), x, ZERO, lengths, backward=backward)
        again, (end,) = unroll(Counted(), other, ZERO, lengths, backward=backward)
        assert torch.equal(outputs, again)
        assert torch.equal(last, end)
