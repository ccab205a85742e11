"""Activation checkpointing: what a block made inside is computed again in the backward pass.

Only what goes into each block of a stack is kept, so memory grows with the number of blocks, not
with what they make; the time of one more forward pass is the price. Dropout draws the same masks
again: the gradients are the same bits.

Source: Chen, Xu, Zhang and Guestrin, "Training Deep Nets with Sublinear Memory Cost" (2016).
"""

from functools import partial

from torch import nn
from torch.utils.checkpoint import checkpoint

from netwright.core.adapted_module import module_name
from netwright.core.errors import ConfigError
from netwright.train.tasks.forward_pass import Forward
from netwright.train.updates.equal_blocks import BlockForward, equal_blocks, with_blocks


def recomputed(forward: Forward, model: nn.Module) -> Forward:
    """A forward pass that keeps what goes into the blocks of the model, and no more of them."""
    return with_blocks(forward, equal_blocks(model), _checkpointed)


def check_blocks(model: nn.Module) -> None:
    """Refuse a model that has no blocks to keep the inputs of."""
    if not equal_blocks(model):
        raise ConfigError(
            "activation_checkpointing needs a model with a stack of equal blocks, as a GPT is, got "
            f"{module_name(model)}: set it to false"
        )


def _checkpointed(block: nn.Module, run: BlockForward) -> BlockForward:
    return partial(checkpoint, run, use_reentrant=False)
