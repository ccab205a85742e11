"""Rows of a batch that end early: what lies beyond their length is not read, whatever it holds.

It is replaced, never multiplied by 0: 0 times NaN is NaN. It is replaced where it comes in, too, as
the gradient of a step that read NaN is NaN even where nothing is asked of its output.

Shapes: B batch, T steps, H numbers a step, N channels of a state.
"""

import torch
from torch import Tensor


def zero_beyond(steps: Tensor, lengths: Tensor) -> Tensor:
    """The steps (B, T, H), with zeros from step `lengths` (B,) on."""
    beyond = torch.arange(steps.shape[1], device=steps.device) >= lengths[:, None]  # (B, T)
    return steps.masked_fill(beyond[:, :, None], 0)


def last_counted(states: Tensor, lengths: Tensor, start: Tensor) -> Tensor:
    """The state after `lengths` (B,) steps, of states (B, T, N); after none it is the start."""
    rows = torch.arange(states.shape[0], device=states.device)
    last = states[rows, (lengths - 1).clamp(min=0)]
    return torch.where(lengths[:, None] > 0, last, start)
