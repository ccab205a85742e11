r"""The parts of a model in order: those that are kept as they are, and rates that fall toward them.

    eta_l = eta d^l        for the part l steps before the last, which has eta itself

Early layers learn what many tasks share, late ones what is special to a task: for a new one the
early ones are frozen, or changed little. A norm is of the part before it.

Source: Yosinski et al., "How transferable are features in deep neural networks?" (2014); Howard and
Ruder, "Universal Language Model Fine-tuning for Text Classification" (2018), section 3.2.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import nn

from netwright.core.checks import nearest
from netwright.core.errors import ConfigError, UnknownNameError
from netwright.layers.norms import NORMS


class Layer(NamedTuple):
    """A child of a model, or of a sequence in it.

    Args:
        path: its name in the model: conv1, layer3.0, features.7, head.
        module: what it is.
    """

    path: str
    module: nn.Module

    @property
    def learns(self) -> bool:
        """Whether it has weights."""
        return next(self.module.parameters(), None) is not None


class Part(NamedTuple):
    """A layer or block of a model that has weights, and the norms that follow it.

    A norm only scales and shifts what the layer before it gives: both are frozen together, and
    learn together at one rate.
    """

    layers: tuple[Layer, ...]

    @property
    def path(self) -> str:
        """The name of its first layer."""
        return self.layers[0].path

    def is_named(self, name: str) -> bool:
        """Whether this is the name of one of its layers, or of a sequence that one is in."""
        return any(f"{layer.path}.".startswith(f"{name}.") for layer in self.layers)


def parts_of(model: nn.Module) -> list[Part]:
    """The parts in order; a norm that comes first is a part by itself."""
    parts: list[Part] = []
    for layer in layers_of(model):
        if parts and isinstance(layer.module, NORMS) and layer.learns:
            parts[-1] = Part((*parts[-1].layers, layer))
        elif layer.learns:
            parts.append(Part((layer,)))
    return parts


def layers_of(model: nn.Module) -> list[Layer]:
    """The model's children, those of a sequence in its place; also such without weights."""

    def layers() -> Iterator[Layer]:
        for name, child in model.named_children():
            if isinstance(child, nn.Sequential | nn.ModuleList):
                for place, layer in child.named_children():
                    yield Layer(f"{name}.{place}", layer)
            else:
                yield Layer(name, child)

    return list(layers())


def count_up_to(parts: Sequence[Part], name: str) -> int:
    """How many parts there are up to the one of this name or, of a sequence, its last.

    A name that is no part's is refused, and so is the last part: something has to learn.
    """
    paths = [part.path for part in parts]
    named = [place for place, part in enumerate(parts) if part.is_named(name)]
    if not named:
        tops = list(dict.fromkeys(path.partition(".")[0] for path in paths))
        hint = nearest(name, [*tops, *paths]) or f"; there are {', '.join(tops) or 'none'}"
        raise UnknownNameError(f"unknown part {name!r} of the model{hint}")
    if named[-1] == len(parts) - 1:
        raise ConfigError(
            f"freeze must name a part before the last one, {paths[-1]!r}, got {name!r}"
        )
    return named[-1] + 1


def weights_by_part(model: nn.Module) -> list[list[nn.Parameter]]:
    """The weights of each part; what several share, or none has, belongs to the first."""
    parts = parts_of(model)
    owners = {
        weight: place
        for place, part in reversed(list(enumerate(parts)))
        for layer in part.layers
        for weight in layer.module.parameters()
    }
    weights: list[list[nn.Parameter]] = [[] for _ in parts] or [[]]
    for weight in model.parameters():
        weights[owners.get(weight, 0)].append(weight)
    return weights


def group_by_part(optimizer: torch.optim.Optimizer, model: nn.Module, decay: float = 1.0) -> None:
    """Give a fresh optimizer groups of its own for each part, the last part's first, at eta d^l."""
    optimizer.param_groups[:] = [
        {**group, "params": chosen, "lr": group["lr"] * decay**steps}
        for steps, weights in enumerate(map(set, reversed(weights_by_part(model))))
        for group in optimizer.param_groups
        if (chosen := [weight for weight in group["params"] if weight in weights])
    ]
