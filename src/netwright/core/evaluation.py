"""A model at rest: looked at or measured, never changed."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


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
