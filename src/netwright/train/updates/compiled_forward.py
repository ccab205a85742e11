"""A model's forward pass by torch.compile: the whole, or of a stack of equal blocks one for all."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from netwright.core.adapted_module import module_name
from netwright.core.errors import ConfigError, RunError
from netwright.core.trees import Tree
from netwright.train.tasks.forward_pass import Forward, ModelOutput
from netwright.train.updates.equal_blocks import (
    are_most_of,
    count_codes,
    equal_blocks,
    with_blocks,
)

# Torch keeps eight codes of a function and runs what needs a ninth as it is. Full batches have one
# of each kind of block, the last batch of a pass another, and the first block has its own where
# what goes into it needs no gradient.
MOST_CODES = 3
# A large model runs for hours: compiled as a whole, the sum at the end of a block is joined with
# the norm that begins the next one. GPT-2 runs 0.7 % faster for it on an H200.
LARGE, FEW = 2**26, 12  # weights, and blocks that are not too many to compile one by one


def compiled(model: nn.Module, forward: Forward | None = None) -> Forward:
    """The model's forward pass by torch.compile; the model itself stays as it is.

    Each size of batch has code of its own: one code for all sizes would take over after the first
    epoch's last batch, and a run that goes on from there might not compute the same bits.

    Where nearly all of a model is a stack of equal blocks, one of each kind is compiled and its
    code serves all of that kind: the start takes as long as that of one block. A large model of few
    blocks is compiled as a whole on CUDA. What was compiled lies in torch's cache on the disk, from
    where the next run takes it.

    Args:
        model: whose pass it is.
        forward: the pass; None: the model as it is called.
    """
    blocks, forward = equal_blocks(model), model if forward is None else forward
    is_stack = bool(blocks) and are_most_of(blocks, model) and count_codes(blocks) <= MOST_CODES
    if is_stack and not _pays_as_a_whole(model, blocks):
        return compiled_blocks(model, forward)
    return _checked(_compile(forward))


def _pays_as_a_whole(model: nn.Module, blocks: list[nn.Module]) -> bool:
    weights = list(model.parameters())
    is_on_cuda = any(weight.is_cuda for weight in weights)
    return is_on_cuda and len(blocks) <= FEW and sum(map(torch.numel, weights)) >= LARGE


def compiled_blocks(model: nn.Module, forward: Forward) -> Forward:
    """A forward pass whose blocks are compiled, each by itself; what is around them is not."""
    blocks = equal_blocks(model)
    made = {block: _compile(block.forward) for block in blocks}
    return _checked(with_blocks(forward, blocks, lambda block, _: made[block]))


def check_codes(model: nn.Module) -> None:
    """Refuse blocks that cannot be compiled each by itself."""
    codes = count_codes(equal_blocks(model))
    if codes > MOST_CODES:
        raise ConfigError(
            "compile with activation_checkpointing needs blocks that differ little in the shapes "
            f"and attributes of their layers, of at most {MOST_CODES} kinds, got {codes} kinds in "
            f"{module_name(model)}: set one of the two to false"
        )


def _compile(run: Callable[..., Any]) -> Callable[..., Any]:
    return torch.compile(run, dynamic=False)


def _checked(run: Forward) -> Forward:
    def checked(inputs: Tree) -> ModelOutput:
        try:
            return run(inputs)
        except torch._dynamo.exc.TorchDynamoException as error:
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise RunError(
                f"the model cannot be compiled: {reason}; set compile to false"
            ) from error

    return checked
