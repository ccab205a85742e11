"""A recurrence written out: one step after the other, in a loop that can be read.

    unroll(step, inputs, state)     s_t = f(x_t, s_{t-1}), t = 1 ... T

Shapes: B batch, T steps, D inputs, H outputs.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from netwright.layers.recurrence.counted_steps import zero_beyond
from netwright.layers.recurrence.recurrent_cells import States


def unroll(
    step: Callable[[Tensor, States], States],
    inputs: Tensor,
    state: States,
    lengths: Tensor | None = None,
    *,
    backward: bool = False,
) -> tuple[Tensor, States]:
    """The output of every step (B, T, H), and the state after the last.

    Args:
        step: from an input (B, D) and a state to the next state, whose first tensor is the output.
        inputs: (B, T, D).
        state: where to begin.
        lengths: how many steps of each row count (B,); a row that is over keeps its state, and its
            outputs are zero. None: all.
        backward: read from the last step to the first; a short row then begins at its own end.
    """
    if lengths is not None:
        inputs = zero_beyond(inputs, lengths)
    # `unbind`, not an index a step: the gradient of each index would be as large as all inputs.
    steps = list(enumerate(inputs.unbind(1)))
    outputs = [inputs] * len(steps)
    for t, x in reversed(steps) if backward else steps:
        new = step(x, state)
        outputs[t] = new[0]
        if lengths is not None:
            counts = (t < lengths)[:, None]
            outputs[t] = new[0].masked_fill(~counts, 0)
            new = tuple(torch.where(counts, now, was) for now, was in zip(new, state, strict=True))
        state = new
    return torch.stack(outputs, dim=1), state
