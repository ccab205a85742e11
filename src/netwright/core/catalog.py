"""Explicit tables of named parts; an unknown name is refused with the nearest one."""

import importlib
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar, cast

from netwright.core.checks import nearest
from netwright.core.errors import UnknownNameError
from netwright.core.terminal.notebook_table import notebook_words

Part = TypeVar("Part")


class Catalog(Generic[Part]):
    """A table from names to parts that are loaded when they are asked for.

    A row is written "package.module:attribute", so reading the table imports nothing and one broken
    part does not break the others. Only this library writes rows: a name that comes from a config,
    a file or a command line is looked up here and never imported.

    Args:
        kind: what a row is, for the refusal ("model").
        rows: name -> "package.module:attribute".
        renamed: a name of before -> that of now; it is still understood, and not listed.
    """

    def __init__(
        self, kind: str, rows: Mapping[str, str], renamed: Mapping[str, str] | None = None
    ) -> None:
        self.kind, self._rows, self._renamed = kind, dict(rows), dict(renamed or {})

    def __repr__(self) -> str:
        return f"Catalog({self.kind}: {', '.join(self)})"

    def _repr_html_(self) -> str:
        return notebook_words(f"Catalog of {len(self)}, each a {self.kind}", list(self))

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows or name in self._renamed

    def check(self, name: str) -> None:
        """Refuse a name that is not in the table."""
        if not isinstance(name, str) or name not in self:  # a file may hold anything
            hint = nearest(str(name), self._rows) or f"; there are {', '.join(self._rows)}"
            raise UnknownNameError(f"unknown {self.kind} {name!r}{hint}")

    def present_name(self, name: str) -> str:
        """The name that this part has now."""
        self.check(name)
        return self._renamed.get(name, name)

    def home(self, name: str) -> tuple[str, str]:
        """The module and the attribute of this name, which are not loaded."""
        module, _, attribute = self._rows[self.present_name(name)].partition(":")
        return module, attribute

    def load(self, name: str) -> Part:
        """The part of this name."""
        module, attribute = self.home(name)
        return cast(Part, getattr(importlib.import_module(module), attribute))
