"""A size of a network as a model of its own: its two classes, made from what a table says of it.

    SIZES = [make_variant(ResNet, size.kind, card=..., blocks=size.blocks) for size in ...]
    __getattr__ = find_variant(__name__, SIZES)

The classes are those that would be written by hand: `resnet.ResNet50` and `resnet.ResNet50Config`
are found by name, also by pickle.
"""

from collections.abc import Callable, Iterable
from dataclasses import make_dataclass
from typing import Any, TypeVar, get_type_hints

from netwright.core.card import Card
from netwright.models.model import Model

ModelT = TypeVar("ModelT", bound=Model)


def make_variant(
    family: type[ModelT],
    kind: str,
    *,
    card: Card,
    defaults: dict[str, Any] | None = None,
    **fixed: Any,
) -> type[ModelT]:
    """The class of one size, with settings of its own, as if it stood in its family's file.

    Args:
        family: the class that all sizes share; it has the settings that they share.
        kind: the name of the class.
        card: of this size.
        defaults: of its settings, where they are not its family's.
        **fixed: class variables that tell the size from the others.
    """
    hints = get_type_hints(family.settings, include_extras=True)
    settings = make_dataclass(
        f"{kind}Config",
        [(name, hints[name], value) for name, value in (defaults or {}).items()],
        bases=(family.settings,),
        namespace={"__doc__": f"Settings of {kind}."},
        frozen=True,
        kw_only=True,
    )
    settings.__module__ = family.__module__  # `make_dataclass` has no argument for it before 3.12
    body = {"__doc__": card.sentence, "__module__": family.__module__}
    return type(kind, (family,), {**body, "settings": settings, "card": card, **fixed})


def find_variant(module: str, kinds: Iterable[type[Model]]) -> Callable[[str], Any]:
    """The `__getattr__` of a family's file: these classes and their settings by name."""
    named = {part.__name__: part for kind in kinds for part in (kind, kind.settings)}

    def find(name: str) -> Any:
        if name not in named:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return named[name]

    return find
