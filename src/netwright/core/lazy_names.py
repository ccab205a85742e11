"""Names of a package that are loaded when they are first used: importing it stays cheap.

    __getattr__, __dir__, __all__ = lazy_names(__name__, {"fit": "netwright.recipes.fitting.fit"})

What a type checker sees of them stands in a block `if TYPE_CHECKING` beside.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str], *, loaded: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The package's `__getattr__`, `__dir__` and `__all__`.

    Args:
        package: its name.
        homes: a name -> the module that has it, or that it is.
        loaded: public names that the package has already. One that is also the name of a module of
            the package must be: importing that module anywhere would hide what is loaded later.
    """
    names = sorted([*homes, *loaded])

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = importlib.import_module(homes[name])
        return home if home.__name__ == f"{package}.{name}" else getattr(home, name)

    return load, lambda: names, names


def homes_in(package: str, names: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """The table of homes from one by modules.

    Args:
        package: its name.
        names: a module, as it is called inside the package -> the names that it has.
    """
    return {name: f"{package}.{module}" for module, named in names.items() for name in named}
