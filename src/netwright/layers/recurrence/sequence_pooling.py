"""From the outputs of all steps to one vector a sequence.

Shapes: B batch, T steps, H outputs a step.
"""

from typing import Literal

import torch
from torch import Tensor

Pooling = Literal["last", "mean", "max"]


def pool_steps(
    outputs: Tensor,
    pooling: Pooling,
    lengths: Tensor | None = None,
    *,
    bidirectional: bool = False,
) -> Tensor:
    """(B, T, H) -> (B, H), over the steps that count.

    Args:
        outputs: of all steps.
        pooling: the last step, the mean or the largest value of each unit.
        lengths: how many steps of each row count (B,); None: all.
        bidirectional: the second half of the units reads from the end, so that its last step is
            the first.
    """
    counted = _counted(outputs, lengths)
    if pooling != "last":
        steps = torch.arange(outputs.shape[1], device=outputs.device)
        beyond = (steps >= counted[:, None])[:, :, None]  # (B, T, 1)
        if pooling == "max":
            return outputs.masked_fill(beyond, -torch.inf).amax(1)
        return outputs.masked_fill(beyond, 0).sum(1) / counted[:, None]
    last = outputs[torch.arange(outputs.shape[0], device=outputs.device), counted - 1]
    if not bidirectional:
        return last
    half = outputs.shape[-1] // 2
    return torch.cat((last[:, :half], outputs[:, 0, half:]), dim=-1)


def _counted(outputs: Tensor, lengths: Tensor | None) -> Tensor:
    """Steps that count, at least one: an empty row is its first step."""
    if lengths is not None:
        return lengths.clamp(min=1)
    return torch.full((outputs.shape[0],), outputs.shape[1], device=outputs.device)
