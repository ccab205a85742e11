"""The layers of a network: the innermost modules that hold a matrix of weights and are called.

A module is a layer where it holds a matrix and no other layer runs within its call: a dense map, a
convolution, a table of embeddings, a whole recurrence. Norms hold vectors only and are no layers.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
from torch import Tensor, nn

from netwright.core.trees import tensors_of

LONGEST_PATH = 28
Shown = TypeVar("Shown")

# Where the layer is in the model, the layer, and the real tensors that it gave, the main one first.
NoteLayer = Callable[[str, nn.Module, list[Tensor]], None]


@contextmanager
def watching_layers(model: nn.Module, note: NoteLayer) -> Iterator[None]:
    """Within it, every call of a layer is noted after it has run.

    Args:
        model: any module; its hooks are taken away at the end.
        note: is given each call.
    """
    holders = {part for part in model.modules() if has_matrix(part)}
    finished = 0  # calls of layers so far
    before: list[int] = []  # the same when each module that is running began, the innermost last

    def begin(*_: Any) -> None:
        before.append(finished)

    def end(path: str, part: nn.Module, output: Any) -> None:
        nonlocal finished
        is_innermost = before.pop() == finished
        if is_innermost and part in holders:
            finished += 1
            note(path, part, _real_tensors(output))

    with ExitStack() as hooks:
        for path, part in model.named_modules():
            hooks.enter_context(part.register_forward_pre_hook(begin))
            hooks.enter_context(
                part.register_forward_hook(
                    lambda part, _, output, path=path: end(path, part, output)
                )
            )
        yield


def has_matrix(module: nn.Module) -> bool:
    """Whether it, or a module within it, holds weights with more than one axis."""
    return any(weight.ndim > 1 for weight in module.parameters())


def layer_name(path: str, most: int = LONGEST_PATH) -> str:
    """The path as a figure shows it: of a long one the end says most."""
    path = path or "model"
    return path if len(path) <= most else f"…{path[1 - most :]}"


def spread_evenly(layers: Sequence[Shown], most: int) -> list[Shown]:
    """All, or `most` of them from the first to the last."""
    places = np.linspace(0, len(layers) - 1, min(len(layers), most)).round().astype(int)
    return [layers[place] for place in places]


def _real_tensors(output: Any) -> list[Tensor]:
    """The tensors of an output that hold reals; a dataclass is looked into."""
    if is_dataclass(output):
        output = [getattr(output, field.name) for field in fields(output)]
    return [tensor for tensor in tensors_of(output) if tensor.is_floating_point()]
