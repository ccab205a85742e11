"""A model's forward pass by torch.compile: the whole, or of a stack of equal blocks one for all."""

from functools import partial

import torch
from torch import nn

from netwright.core.errors import RunError
from netwright.core.trees import Tree
from netwright.train.tasks.forward_pass import Forward, ModelOutput
from netwright.train.updates.equal_blocks import are_most_of, equal_blocks, with_blocks


def compiled(model: nn.Module, forward: Forward | None = None) -> Forward:
    """The model's forward pass by torch.compile; the model itself stays as it is.

    Each size of batch has code of its own: one code for all sizes would take over after the first
    epoch's last batch, and a run that goes on from there might not compute the same bits.

    Where nearly all of a model is a stack of equal blocks, one of them is compiled and its code
    serves all: the start takes as long as that of one block, and GPT-2 runs as fast. What was
    compiled lies in torch's cache on the disk, from where the next run takes it.

    Args:
        model: whose pass it is.
        forward: the pass; None: the model as it is called.
    """
    compile_it = partial(torch.compile, dynamic=False)
    blocks, forward = equal_blocks(model), model if forward is None else forward
    if blocks and are_most_of(blocks, model):
        made = {block: compile_it(block.forward) for block in blocks}
        run = with_blocks(forward, blocks, lambda block, _: made[block])
    else:
        run = compile_it(forward)

    def checked(inputs: Tree) -> ModelOutput:
        try:
            return run(inputs)
        except torch._dynamo.exc.TorchDynamoException as error:
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise RunError(
                f"the model cannot be compiled: {reason}; set compile to false"
            ) from error

    return checked
