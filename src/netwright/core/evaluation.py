"""A model at rest: looked at or measured, never changed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Dropout and batch statistics rest, no gradients; afterwards the model is as it was."""
    modes = [(part, part.training) for part in model.modules()]  # a frozen part stays frozen
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for part, training in modes:
            part.training = training


def call_with(model: nn.Module, weights: Mapping[str, Tensor], inputs: Tensor) -> Any:
    """What a model gives with these weights and buffers in the place of its own, which stay.

    Recurrent layers run without cuDNN: it wants their weights in one piece of memory, and does not
    go back through a layer that is at rest.
    """
    is_recurrent = any(isinstance(part, nn.RNNBase) for part in model.modules())
    with torch.backends.cudnn.flags(enabled=False) if is_recurrent else nullcontext():
        return functional_call(model, dict(weights), (inputs,))
