"""Activation checkpointing: what a block made inside is computed again in the backward pass.

Only what goes into each block of a stack is kept, so memory grows with the number of blocks, not
with what they make; the time of one more forward pass is the price. Dropout draws the same masks
again, and buffers have the values they had: the gradients are the same bits. Batch norm's
statistics move once an update, as without.

Source: Chen, Xu, Zhang and Guestrin, "Training Deep Nets with Sublinear Memory Cost" (2016).
"""

from contextlib import AbstractContextManager, nullcontext
from functools import partial

from torch import Tensor, nn
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
    return partial(checkpoint, run, use_reentrant=False, context_fn=partial(_contexts, block))


def _contexts(
    block: nn.Module,
) -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """What surrounds a block's forward pass, and what surrounds it when it is computed again."""
    return nullcontext(), _BuffersBefore(block)


class _BuffersBefore(AbstractContextManager[None]):
    """Copies of a block's buffers in their places, with the values from before the forward pass.

    The buffers themselves are not written to, and are back afterwards: also where the pass ends
    early, since the backward pass has all that it needs.
    """

    def __init__(self, block: nn.Module) -> None:
        self.layers = list(block.modules())
        self.before = [
            (layer, name, buffer.clone()) for layer, name, buffer in _buffers(self.layers)
        ]

    def __enter__(self) -> None:
        self.now = _buffers(self.layers)
        for layer, name, values in self.before:
            setattr(layer, name, values.clone())

    def __exit__(self, *error: object) -> None:
        for layer, name, buffer in self.now:
            setattr(layer, name, buffer)


def _buffers(layers: list[nn.Module]) -> list[tuple[nn.Module, str, Tensor]]:
    """Those that layers have; where a GPU waits for the host, a walk of `named_buffers` is long."""
    return [
        (layer, name, buffer)
        for layer in layers
        for name, buffer in layer._buffers.items()
        if buffer is not None
    ]
