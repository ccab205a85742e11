"""A model's size, known before memory is taken for it: it is built on torch's meta device first.

There a tensor has a name, a shape and a type, and no content. So the settings of a recipe, or of a
run folder from elsewhere, are compared with what they may ask for, and with the weights that came
with them, before anything is made.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_buffer_registration_hook,
    register_module_parameter_registration_hook,
)
from torch.overrides import TorchFunctionMode

from netwright.core.errors import DataError, NetwrightError
from netwright.core.limits import TENSORS, WEIGHTS
from netwright.core.seeding import torch_seeded

FREE = 2**27  # numbers that a model may hold beside its weights: masks, tables of positions
# By the last two torch 2.11 makes normal numbers without tails.
DRAWS_NORMAL = (Tensor.normal_, nn.init.normal_, Tensor.erfinv_, Tensor.clamp_)
SHARE = 4  # an ensemble that stopped early holds more members before it takes its weights


def build_dry(build: Callable[[], nn.Module]) -> nn.Module:
    """The model that `build` makes, on the meta device; one that is too large is refused."""
    tensors = size = 0

    def count(_module: nn.Module, _name: str, tensor: Tensor | None) -> None:
        nonlocal tensors, size
        if tensor is not None:
            tensors, size = tensors + 1, size + tensor.numel() * tensor.element_size()
            TENSORS.check("the model", tensors)
            WEIGHTS.check("the model", size / 1e9, "takes")

    hooks = [
        register_module_parameter_registration_hook(count),
        register_module_buffer_registration_hook(count),
    ]
    try:
        with torch_seeded(0), torch.device("meta"), _DrawingNothing():
            return build()
    finally:
        for hook in hooks:
            hook.remove()


def check_size(build: Callable[[], nn.Module]) -> None:
    """Refuse a model that is too large, before it takes memory."""
    try:
        build_dry(build)
    except NetwrightError:
        raise
    except Exception:  # what else is wrong with it, building it tells
        return


def check_fits_weights(build: Callable[[], nn.Module], weights: Mapping[str, Tensor]) -> None:
    """Refuse weights that are not, by names and shapes, those of the model that `build` makes.

    Args:
        build: makes the model.
        weights: by name.
    """
    dry = build_dry(build)
    asked, held = _numbers(dry.state_dict()), _numbers(weights)
    if asked > SHARE * held + FREE:
        raise DataError(f"its settings ask for {asked:,} numbers, its weights hold {held:,}")
    dry.load_state_dict(weights, assign=True)


class _DrawingNothing(TorchFunctionMode):
    """Where no number is kept, normal ones are not drawn: torch would load its compiler for it."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = kwargs or {}
        if func in DRAWS_NORMAL:
            tensor: Tensor = args[0] if args else given["tensor"]
            if tensor.is_meta:
                return tensor
        return func(*args, **given)


def _numbers(tensors: Mapping[str, Any]) -> int:
    return sum(tensor.numel() for tensor in tensors.values())
