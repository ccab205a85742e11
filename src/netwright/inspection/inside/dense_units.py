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
    layers: list[UnitLayer] = []

    def note(path: str, part: nn.Module, output: Any) -> None:
        if not isinstance(output, Tensor) or output.ndim != 2:
            return
        if isinstance(part, nn.Linear):
            layers.append(UnitLayer(path=path, answers=output, weights=part.weight.detach()))
        elif layers and output.shape == layers[-1].answers.shape:
            before = layers.pop()
            layers.append(UnitLayer(path=before.path, answers=output, weights=before.weights))

    with evaluating(model), ExitStack() as hooks:
        for path, part in model.named_modules():
            if not any(part.children()):
                hooks.enter_context(
                    part.register_forward_hook(
                        lambda part, _, output, path=path: note(path, part, output)
                    )
                )
        return model(inputs), layers
