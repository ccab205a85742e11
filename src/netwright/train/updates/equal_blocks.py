"""Stacks of equal blocks in a model, and other ways to run a block during a forward pass.

What pays for one block of a stack pays for all: code that is compiled once serves every block, and
what lies between two blocks is little beside what a block makes inside.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

from netwright.core.trees import Tree
from netwright.train.tasks.forward_pass import Forward, ModelOutput

BlockForward = Callable[..., Any]
Change = Callable[[nn.Module, BlockForward], BlockForward]


def equal_blocks(model: nn.Module) -> list[nn.Module]:
    """The blocks of all stacks: two or more in a row, of one class and of weights of equal shapes.

    A block has layers of its own; a row of single layers is no stack. Of a stack inside of another
    the outer one counts.
    """
    found: list[nn.Module] = []
    inside: set[nn.Module] = set()
    for part in model.modules():
        blocks = list(part.children())
        is_row = isinstance(part, nn.ModuleList | nn.Sequential) and part not in inside
        if is_row and len(blocks) > 1 and len({_form(block) for block in blocks}) == 1:
            if any(blocks[0].children()) and any(True for _ in blocks[0].parameters()):
                found += blocks
                inside |= {layer for block in blocks for layer in block.modules()}
    return found


def are_most_of(blocks: list[nn.Module], model: nn.Module) -> bool:
    """Whether nearly all layers of a model are in these blocks."""
    inside = sum(_layers(block) for block in blocks)
    return inside >= 0.8 * _layers(model)


def count_codes(blocks: list[nn.Module]) -> int:
    """How many codes a compiler makes for these blocks and one size of batch.

    Code serves two blocks where their tensors have equal shapes and their layers equal plain
    attributes: numbers and texts are constants in it.
    """
    return len({(_form(block), *map(_constants, block.modules())) for block in blocks})


def with_blocks(forward: Forward, blocks: list[nn.Module], change: Change) -> Forward:
    """A forward pass during which blocks run another way; before and after they are as they were.

    Args:
        forward: the pass.
        blocks: of the model.
        change: of a block and the way in which it runs, gives another.
    """

    def changed(inputs: Tree) -> ModelOutput:
        with _running(blocks, change):
            return forward(inputs)

    return changed


@contextmanager
def _running(blocks: list[nn.Module], change: Change) -> Iterator[None]:
    before = [vars(block).get("forward") for block in blocks]
    for block in blocks:
        block.forward = change(block, block.forward)
    try:
        yield
    finally:
        for block, own in zip(blocks, before, strict=True):
            if own is None:
                del block.forward
            else:
                block.forward = own


def _form(block: nn.Module) -> tuple[object, ...]:
    """What the blocks of a stack have in common."""
    weights = ((name, weight.shape) for name, weight in block.named_parameters())
    return (type(block), *weights)


def _constants(layer: nn.Module) -> tuple[object, ...]:
    shapes = ((name, buffer.shape) for name, buffer in layer.named_buffers(recurse=False))
    attributes = ((name, _plain(value)) for name, value in vars(layer).items())
    return (type(layer), *shapes, *attributes)


def _plain(value: object) -> object:
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    return value if isinstance(value, int | float | str) else type(value)


def _layers(part: nn.Module) -> int:
    return sum(not any(layer.children()) for layer in part.modules())
