"""Residual blocks of recurrences: their formula, their shortcut, their dropout and their states."""

import torch
from torch import Tensor, nn

from netwright.core.seeding import seeded
from netwright.layers.recurrence.minimal_recurrence import MinimalGRU
from netwright.layers.recurrence.residual_recurrence import RecurrenceStack, ResidualRecurrence


def stack(input_size: int, layers: int, dropout: float = 0.0) -> RecurrenceStack:
    with seeded(0):
        blocks = [ResidualRecurrence(MinimalGRU(4, 4), dropout=dropout) for _ in range(layers)]
        return RecurrenceStack(input_size, blocks).double()


def series(steps: int, columns: int) -> Tensor:
    numbers = torch.Generator().manual_seed(7)
    return torch.randn(2, steps, columns, generator=numbers, dtype=torch.float64)


def test_a_block_is_its_formula() -> None:
    block = stack(4, 1).blocks[0]
    assert isinstance(block, ResidualRecurrence)
    x = series(5, 4)
    hidden, _ = block.recurrence(block.norm(x))
    value, gate = block.gate(nn.functional.silu(hidden)).chunk(2, dim=-1)
    torch.testing.assert_close(block(x)[0], x + value * gate.sigmoid())


def test_a_block_whose_gate_gives_nothing_is_the_identity() -> None:
    deep, x = stack(4, 3), series(5, 4)
    for block in deep.blocks:
        for part in block.get_submodule("gate").parameters():
            nn.init.zeros_(part)
    torch.testing.assert_close(deep(x)[0], nn.functional.layer_norm(x, (4,)))


def test_the_input_is_widened_only_where_it_must_be() -> None:
    assert not list(stack(4, 1).widen.parameters())
    assert stack(2, 1).widen.get_parameter("weight").shape == (4, 2)


def test_each_block_has_a_state_of_its_own() -> None:
    deep = stack(2, 3)
    _, state = deep(series(5, 2))
    assert [tuple(part.shape) for part in state] == [(2, 4)] * 3
    assert [tuple(part.shape) for part in deep.start(7)] == [(7, 4)] * 3


def test_dropout_acts_while_training_only() -> None:
    deep, x = stack(4, 2, dropout=0.5), series(5, 4)
    deep.eval()
    assert torch.equal(deep(x)[0], deep(x)[0])
    deep.train()
    assert not torch.equal(deep(x)[0], deep(x)[0])


def test_gradients_reach_the_first_of_many_blocks() -> None:
    deep, x = stack(4, 12), series(20, 4)
    torch.autograd.backward(deep(x)[0].square().sum())
    sizes = [
        float(
            torch.stack(
                [part.grad.norm() for part in block.parameters() if part.grad is not None]
            ).norm()
        )
        for block in deep.blocks
    ]
    assert max(sizes) < 100 * min(sizes)
