"""The units of dense layers: what each of them answers to some inputs, and the weights into it.

A layer begins where a dense map W x + b is called. What follows it one unit at a time, a
nonlinearity or a norm, belongs to it: its units answer with what leaves the last of these.

Shapes: N inputs, D inputs of a layer, U its units.
"""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from netwright.core.evaluation import evaluating


@dataclass(frozen=True, kw_only=True)
class UnitLayer:
    """One dense layer.

    Args:
        path: of its dense map in the model.
        answers: of its units, (N, U).
        weights: W, (U, D).
    """

    path: str
    answers: Tensor
    weights: Tensor


def measure_units(model: nn.Module, inputs: Tensor) -> tuple[Any, list[UnitLayer]]:
    """What a model gives, and its dense layers in the order in which they are called.

    Args:
        model: any module; its hooks are taken away at the end.
        inputs: (N, ...).
    """
    seen: list[tuple[nn.Module, Any]] = []

    def note(part: nn.Module, _: Any, output: Any) -> None:
        seen.append((part, output))  # and no more: hooks make the pass slower

    with evaluating(model), ExitStack() as hooks:
        paths = {part: path for path, part in model.named_modules()}
        for part in paths:
            if next(part.children(), None) is None:
                hooks.enter_context(part.register_forward_hook(note))
        given = model(inputs)
    layers: list[tuple[nn.Linear, Tensor]] = []
    for part, output in seen:
        if not isinstance(output, Tensor) or output.ndim != 2:
            continue
        if isinstance(part, nn.Linear):
            layers.append((part, output))
        elif layers and output.shape == layers[-1][1].shape:
            layers[-1] = (layers[-1][0], output)
    return given, [
        UnitLayer(path=paths[part], answers=answers, weights=part.weight.detach())
        for part, answers in layers
    ]
