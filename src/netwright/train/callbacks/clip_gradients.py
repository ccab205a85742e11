r"""Gradients that are too large are cut: all of them together by their length, or one by one.

    by norm    g <- g min(1, c / ||g||)         the direction stays
    by value   g_i <- max(-c, min(c, g_i))      the direction may turn

A gradient that is shorter than c is left alone; c g / ||g|| without that condition makes it longer.
Clipping keeps gradients from exploding; those that vanish stay small.

Source: Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks"
(2013), algorithm 1.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from netwright.train.callback import Callback, Part
from netwright.train.engines.engine import Engine
from netwright.train.state import TrainState


@torch.no_grad()
def clip_by_norm(grads: Sequence[Tensor], limit: float, engine: Engine | None = None) -> None:
    """Make all gradients together no longer than the limit, in place; nothing waits for the device.

    torch's `clip_grad_norm_` divides by the norm + 1e-6, which shortens gradients within the limit.

    Args:
        grads: of this rank.
        limit: of their length.
        engine: knows how long they are where other ranks hold other parts of them.
    """
    grads = list(grads)
    norm = (engine or Engine()).norm(grads)
    torch._foreach_mul_(grads, (limit / norm).clamp(max=1.0))


@torch.no_grad()
def clip_by_value(grads: Sequence[Tensor], limit: float) -> None:
    """Make each number no larger than the limit, in place."""
    grads = list(grads)
    torch._foreach_clamp_min_(grads, -limit)
    torch._foreach_clamp_max_(grads, limit)


class ClipGradients(Callback):
    """Cuts the gradients of an update, whole over its batches and ranks; first by norm.

    Args:
        norm: the most that all gradients together may be long; None: any length.
        value: the most that one number may be; None: any size.
    """

    def __init__(self, *, norm: float | None = None, value: float | None = None) -> None:
        self.norm, self.value = norm, value

    def part_in_update(self, state: TrainState) -> Part:
        """The limits are the same for every update."""
        return "queued"

    def on_before_update(self, state: TrainState) -> None:
        """Cut them."""
        grads = state.whole_gradients()
        if self.norm is not None:
            clip_by_norm(grads, self.norm, state.engine)
        if self.value is not None:
            clip_by_value(grads, self.value)
