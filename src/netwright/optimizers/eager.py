"""torch's optimizers without the import of torch's compiler.

Torch wraps `add_param_group`, `zero_grad`, `state_dict`, `load_state_dict` and most `step` methods
so that `torch.compile` keeps them out of its graphs. The first call of a wrapper imports
`torch._dynamo` and with it sympy, torch.onnx and FSDP: 800 modules, which take longer to load
than a small network to train. netwright compiles the forward pass only, never an optimizer, so that
the classes here have the same methods without the wrapper. The arithmetic is torch's own.
"""

import inspect
from collections.abc import Callable
from typing import Any

import torch


def _step_of(kind: type[torch.optim.Optimizer]) -> Callable[..., Any]:
    """Torch's step, without gradients; that of a step itself (`differentiable`) is not offered."""
    step: Callable[..., Any] = torch.no_grad()(inspect.unwrap(kind.step))
    return step


class EagerOptimizer(torch.optim.Optimizer):
    """An optimizer whose methods run as they are written, outside of any compiled graph."""

    add_param_group = inspect.unwrap(torch.optim.Optimizer.add_param_group)
    zero_grad = inspect.unwrap(torch.optim.Optimizer.zero_grad)
    state_dict = inspect.unwrap(torch.optim.Optimizer.state_dict)
    load_state_dict = inspect.unwrap(torch.optim.Optimizer.load_state_dict)


class SGD(EagerOptimizer, torch.optim.SGD):
    """torch.optim.SGD."""

    step = _step_of(torch.optim.SGD)


class Adagrad(EagerOptimizer, torch.optim.Adagrad):
    """torch.optim.Adagrad."""

    step = _step_of(torch.optim.Adagrad)


class Adadelta(EagerOptimizer, torch.optim.Adadelta):
    """torch.optim.Adadelta."""

    step = _step_of(torch.optim.Adadelta)


class RMSprop(EagerOptimizer, torch.optim.RMSprop):
    """torch.optim.RMSprop."""

    step = _step_of(torch.optim.RMSprop)


class Adam(EagerOptimizer, torch.optim.Adam):
    """torch.optim.Adam."""

    step = _step_of(torch.optim.Adam)


class AdamW(EagerOptimizer, torch.optim.AdamW):
    """torch.optim.AdamW."""

    step = _step_of(torch.optim.AdamW)


class NAdam(EagerOptimizer, torch.optim.NAdam):
    """torch.optim.NAdam."""

    step = _step_of(torch.optim.NAdam)


class LBFGS(EagerOptimizer, torch.optim.LBFGS):
    """torch.optim.LBFGS."""

    step = _step_of(torch.optim.LBFGS)


def torch_kind(optimizer: torch.optim.Optimizer) -> type[torch.optim.Optimizer]:
    """The class whose step is taken: torch's for one of this file, else the optimizer's own."""
    for kind in type(optimizer).__mro__:  # each update asks: a generator takes longer
        if kind.__module__ != __name__:
            break
    return kind
