"""A form in which data is handed over: how it is recognised, set and loaded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from netwright.core.config import Config
from netwright.data.dataset import Data
from netwright.data.given.given import Given


@dataclass(frozen=True, kw_only=True)
class GivenForm:
    """A row of the table of forms.

    Args:
        name: what refusals call it.
        recognises: whether an object has this form. No optional package is imported for it: who
            hands over an object of a package has imported that.
        settings: the object and the settings given beside it -> the settings that it takes.
        load: what is given, and its settings -> data.
        unpack: what is given -> the same with the splits apart, where an object holds several.
        has_rows: whether rows of it are held out, so that they may be in groups.
    """

    name: str
    recognises: Callable[[Any], bool]
    settings: Callable[[Any, Mapping[str, Any]], type[Config]]
    load: Callable[[Given, Any], Data]
    unpack: Callable[[Given], Given] = lambda given: given
    has_rows: bool = True


def is_of(package: str, *names: str) -> Callable[[Any], bool]:
    """A test for objects of a package's classes, by their names and those of their bases."""

    def recognises(source: Any) -> bool:
        return any(
            kind.__module__.partition(".")[0] == package and kind.__name__ in names
            for kind in type(source).__mro__
        )

    return recognises
