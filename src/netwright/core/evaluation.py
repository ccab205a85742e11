"""A model at rest: looked at or measured, never changed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from netwright.core.devices import device_of
from netwright.core.trees import Tree


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Dropout and batch statistics rest, no gradients; afterwards the model is as it was.

    A module takes long to be told its mode: one whose parts are all at rest is not told again.
    """
    modes = [(part, part.training) for part in model.modules()]  # a frozen part stays frozen
    if any(training for _, training in modes):
        model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for part, training in modes:
            if part.training is not training:
                part.training = training


@contextmanager
def differentiable(model: nn.Module) -> Iterator[None]:
    """Gradients can be taken of a model at rest, with recurrent layers on a GPU as well.

    cuDNN keeps what it needs to go back through a recurrent layer in training mode only. Within
    this such layers are in that mode and without dropout, which gives the numbers of evaluation.
    """
    resting = [
        part
        for part in model.modules()
        if isinstance(part, nn.RNNBase) and not part.training and device_of(part).type != "cpu"
    ]
    dropouts = [part.dropout for part in resting]
    for part in resting:
        part.training, part.dropout = True, 0.0
    try:
        with torch.enable_grad():
            yield
    finally:
        for part, dropout in zip(resting, dropouts, strict=True):
            part.training, part.dropout = False, dropout


def call_with(model: nn.Module, weights: Mapping[str, Tensor], inputs: Tree) -> Any:
    """What a model gives with these weights and buffers in the place of its own, which stay.

    Recurrent layers run without cuDNN: it wants their weights in one piece of memory, and does not
    go back through a layer that is at rest.
    """
    is_recurrent = any(isinstance(part, nn.RNNBase) for part in model.modules())
    with torch.backends.cudnn.flags(enabled=False) if is_recurrent else nullcontext():
        return functional_call(model, dict(weights), (inputs,))
