"""The gradients of a loss by torch's engine alone.

`Tensor.backward` looks at its arguments for what may stand in the place of a tensor, and keeps what
other threads than this one would ask for, before it calls the engine; for a small network that
takes a fifth of the engine's own time. Here the engine is called with the same arguments, so that
gradients have the same bits. It calls hooks itself.
"""

import torch
from torch import Tensor
from torch.autograd import Variable


def backward(loss: Tensor) -> None:
    """Add the gradients of a loss to those of the weights that it was computed from."""
    if type(loss) is not Tensor or loss.ndim or loss.dtype is not torch.float32 or not loss.is_cpu:
        loss.backward()  # type: ignore[no-untyped-call]  # refuses, or has threads of its own
        return
    ones = (torch.ones_like(loss),)  # anew: a weight may keep it as its gradient
    Variable._execution_engine.run_backward(
        (loss,), ones, False, False, (), allow_unreachable=True, accumulate_grad=True
    )
