"""Names of a package that are loaded when they are first used: importing it stays cheap.

__getattr__, __dir__ = lazy_names(__name__, {"fit": "netwright.recipes.fitting.fit"})
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The package's `__getattr__` and `__dir__`.

    Args:
        package: its name.
        homes: a name -> the module that has it, or that it is.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = importlib.import_module(homes[name])
        return home if home.__name__ == f"{package}.{name}" else getattr(home, name)

    def names() -> list[str]:
        return sorted(homes)

    return load, names
