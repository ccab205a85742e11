"""A module that takes or gives more than one tensor, as the rest of the code calls models.

    adapted(inputs) -> Tensor        module(a, b) for a tuple, module(x=a, y=b) for a dict of inputs

It shares its parameters, buffers and children with the module, under the same names: weights on
disk are those of the module itself, and what is trained is the module.

Shapes: B batch.
"""

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor, nn

from netwright.core.errors import ShapeError
from netwright.core.outputs import Output
from netwright.core.trees import map_tensors

Place = str | int  # of a part of what a module returns: a key, a field, or a place in a tuple


class AdaptedModule(nn.Module):
    """Hands a tensor, tuple or dict of inputs to a module, and takes its prediction out.

    Args:
        own: the module.
        part: which part of a tuple, dict or dataclass is the prediction; None: it gives a tensor.
        gives_whole: all that the module returned goes with the prediction, for a loss of it.
    """

    own: nn.Module

    def __init__(
        self, own: nn.Module, part: Place | None = None, *, gives_whole: bool = False
    ) -> None:
        training = own.training
        self.__dict__["own"] = own  # no child: names would have a prefix
        super().__init__()
        for shared in ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set"):
            self.__dict__[shared] = getattr(own, shared)
        self.training, self.part, self.gives_whole = training, part, gives_whole

    @property
    def training(self) -> bool:
        """That of the module."""
        return self.own.training

    @training.setter
    def training(self, mode: bool) -> None:
        self.own.training = mode

    def train(self, mode: bool = True) -> Self:
        """As the module understands it: it may keep parts of itself at rest."""
        self.own.train(mode)
        return self

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        self.own._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """That of the module."""
        return self.own.state_dict(*args, **kwargs)

    def load_state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Into the module."""
        return self.own.load_state_dict(*args, **kwargs)

    def extra_repr(self) -> str:
        """That of the module, and which part of what it returns is taken."""
        part = "" if self.part is None else f"part={self.part!r}"
        return ", ".join(filter(None, [self.own.extra_repr(), part]))

    def forward(self, inputs: Any) -> Tensor | Output:
        """The prediction (B, ...) for a tensor or a tree of inputs."""
        output = self.call(inputs)
        if isinstance(output, Tensor | Output) or self.part is None:
            return output  # type: ignore[no-any-return]  # anything else is refused by its kind
        named = parts_of_output(output)
        if self.part not in named:
            known = ", ".join(map(str, named)) or "none"
            raise ShapeError(f"the model's output has no part {self.part!r}; there are {known}")
        taken: Tensor = named[self.part]
        return Output(logits=taken, whole=output) if self.gives_whole else taken

    def call(self, inputs: Any) -> Any:
        """What the module returns for inputs in its own number format."""
        kind = float_kind(self.own)
        if kind is not None:
            inputs = map_tensors(lambda x: x.to(kind) if x.is_floating_point() else x, inputs)
        if isinstance(inputs, Tensor) or not takes_several(self.own, inputs):
            return self.own(inputs)
        if isinstance(inputs, Mapping):
            return self.own(**known_arguments(self.own, inputs))
        return self.own(*inputs)


def parts_of_output(output: Any) -> dict[Place, Any]:
    """What a module returned, by key, field or place; a tuple with names has both."""
    if isinstance(output, Mapping):
        return dict(output)
    if dataclasses.is_dataclass(output) and not isinstance(output, type):
        return {field.name: getattr(output, field.name) for field in dataclasses.fields(output)}
    if isinstance(output, list | tuple):
        return {**dict(enumerate(output)), **getattr(output, "_asdict", dict)()}
    return {}


def float_kind(module: nn.Module) -> torch.dtype | None:
    """The one format of its real weights; None where it has none, or several."""
    kinds = {weight.dtype for weight in module.parameters() if weight.is_floating_point()}
    return kinds.pop() if len(kinds) == 1 else None


def takes_several(module: nn.Module, inputs: Any) -> bool:
    """Whether the parts are arguments of their own, not one tuple or dict for one argument."""
    taken = inspect.signature(module.forward).parameters.values()
    if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in taken):
        return True
    if isinstance(inputs, Mapping):
        return any(one.name in inputs for one in taken)
    return len(taken) > 1


def known_arguments(module: nn.Module, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the inputs that the module's forward takes."""
    taken = inspect.signature(module.forward).parameters
    if any(one.kind is one.VAR_KEYWORD for one in taken.values()):
        return dict(inputs)
    return {name: part for name, part in inputs.items() if name in taken}


def module_name(module: nn.Module) -> str:
    """The class of a module as its author named it."""
    return type(module.own if isinstance(module, AdaptedModule) else module).__name__
