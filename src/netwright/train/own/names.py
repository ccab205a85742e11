"""What to call an object of a caller's: by this it is known again when a run is resumed."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from torch import nn


def name_of(thing: Any) -> str:
    """A function's own name, a class's, with what is fixed of a partial one: SGD(momentum=0.9)."""
    if isinstance(thing, str):
        return thing
    if isinstance(thing, partial):
        given = [*map(repr, thing.args), *(f"{k}={v!r}" for k, v in thing.keywords.items())]
        return f"{name_of(thing.func)}({', '.join(given)})"
    if isinstance(thing, Mapping):
        return ", ".join(f"{name}: {name_of(one)}" for name, one in thing.items())
    if isinstance(thing, tuple):
        return ", ".join(name_of(one) for one in thing)
    if isinstance(thing, nn.Module):
        return f"{type(thing).__name__}({thing.extra_repr()})"
    name = getattr(thing, "__qualname__", type(thing).__name__)
    return str(name).rpartition("<locals>.")[2]
