"""Models in float64: gradients are compared to many digits, which float32 does not have.

Copies of models are wide, and while they run every format that their code names is wide too.
"""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

_WIDE = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}
_TO_WIDE: dict[Callable[..., Any], Callable[..., Any]] = {
    Tensor.float: Tensor.double,
    Tensor.half: Tensor.double,
    Tensor.bfloat16: Tensor.double,
}


@contextmanager
def in_float64() -> Iterator[None]:
    """Within it new tensors are float64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def widened(tensor: Tensor) -> Tensor:
    """On the CPU and in float64, if it is real; without a history."""
    tensor = tensor.detach().cpu()
    return tensor.to(_WIDE.get(tensor.dtype, tensor.dtype))


def double_copy(modules: tuple[nn.Module, ...]) -> tuple[nn.Module, ...]:
    """Copies on the CPU, in float64 and at rest; everything learns, what is shared stays shared."""
    twins = copy.deepcopy(modules)
    for part in {part: None for twin in twins for part in twin.modules()}:
        part._apply(widened, recurse=False)  # type: ignore[no-untyped-call]
        for name, value in vars(part).items():
            if isinstance(value, Tensor):  # neither parameter nor buffer
                vars(part)[name] = widened(value).requires_grad_(value.requires_grad)
        if "_orig_mod" in part._modules:  # compiled: operations are seen one by one without that
            vars(part)["forward"] = part._modules["_orig_mod"]
        for parameter in part.parameters(recurse=False):
            parameter.requires_grad_(parameter.is_floating_point() or parameter.is_complex())
    return tuple(twin.eval() for twin in twins)


class Widening(TorchFunctionMode):
    """Within it float32 and its like are read as float64 in every call of a torch function."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        named = {key: _wide(value) for key, value in (kwargs or {}).items()}
        return _TO_WIDE.get(func, func)(*(_wide(value) for value in args), **named)


def widely(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which may name formats in its own code, in float64."""

    def call(*args: Any, **kwargs: Any) -> Any:
        with Widening():
            return function(*args, **kwargs)

    return call


def _wide(value: Any) -> Any:
    return _WIDE.get(value, value) if isinstance(value, torch.dtype) else value
