"""Which parts of a model are stacks of equal blocks, and that blocks are left as they were."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.train.updates.equal_blocks import are_most_of, count_codes, equal_blocks, with_blocks
from tests.train.toy_runs import toy_net


class Block(nn.Module):
    def __init__(self, width: int = 3) -> None:
        super().__init__()
        self.layer = nn.Linear(3, width)
        self.back = nn.Linear(width, 3)

    def forward(self, x: Tensor) -> Tensor:
        added: Tensor = self.back(self.layer(x).relu())
        return x + added


def stack(*widths: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 3), nn.Sequential(*map(Block, widths)))


def test_blocks_of_one_class_and_of_equal_shapes_are_a_stack() -> None:
    model = stack(4, 4, 4)
    assert equal_blocks(model) == list(model[1].children())
    assert are_most_of(equal_blocks(model), model)
    listed = nn.Sequential(nn.ModuleList([Block(), Block()]))
    assert len(equal_blocks(listed)) == 2


def test_other_shapes_single_layers_and_one_block_are_none() -> None:
    assert not equal_blocks(stack(4, 5))
    assert not equal_blocks(stack(4))
    assert not equal_blocks(nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)))
    assert not equal_blocks(toy_net())


def test_of_a_stack_inside_of_another_the_outer_one_counts() -> None:
    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Sequential(Block(), Block())

    model = nn.Sequential(Outer(), Outer())
    assert equal_blocks(model) == list(model)


def test_a_stack_that_is_a_part_of_the_layers_is_not_most_of_the_model() -> None:
    model = nn.Sequential(*stack(4, 4), *(nn.Linear(3, 3) for _ in range(3)))
    assert not are_most_of(equal_blocks(model), model)


def test_blocks_of_equal_shapes_and_plain_attributes_share_code() -> None:
    blocks = equal_blocks(stack(4, 4, 4))
    assert count_codes(blocks) == 1
    blocks[0].index = 0  # type: ignore[assignment]
    assert count_codes(blocks) == 2
    for block in blocks:
        block.index = 1  # type: ignore[assignment]
    assert count_codes(blocks) == 1
    for number, block in enumerate(blocks):
        block.get_submodule("layer").sizes = [3, number]  # type: ignore[assignment]
    assert count_codes(blocks) == 3
    tabled = equal_blocks(stack(4, 4))
    for number, block in enumerate(tabled):
        block.register_buffer("table", torch.zeros(number))
    assert count_codes(tabled) == 2


def test_blocks_run_another_way_during_a_pass_and_only_then() -> None:
    model, inputs, ran = stack(4, 4), torch.randn(2, 3), list[nn.Module]()

    def change(block: nn.Module, run: Any) -> Any:
        def noted(x: Tensor) -> Tensor:
            ran.append(block)
            found: Tensor = run(x)
            return 2 * found

        return noted

    first, second = blocks = equal_blocks(model)
    own = second.forward
    second.forward = lambda x: own(x) + 1
    before = model(inputs)
    changed = with_blocks(model, blocks, change)(inputs)
    assert ran == blocks
    x = model[0](inputs)
    torch.testing.assert_close(changed, 2 * (own(2 * Block.forward(first, x)) + 1))  # type: ignore[arg-type]
    assert torch.equal(model(inputs), before)
    assert ["forward" in vars(block) for block in blocks] == [False, True]


def test_blocks_are_put_back_after_an_error() -> None:
    model = stack(4, 4)

    def refuse(block: nn.Module, run: Any) -> Any:
        def fail(x: Tensor) -> Tensor:
            raise ValueError("no")

        return fail

    with pytest.raises(ValueError, match="no"):
        with_blocks(model, equal_blocks(model), refuse)(torch.randn(2, 3))
    assert not any("forward" in vars(block) for block in model[1].children())
    model(torch.randn(2, 3))
