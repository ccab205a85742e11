"""Data as a caller hands it over, with the rows to choose by and to report on beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from netwright.core.errors import ConfigError

SIZES = {"val_size": "validation", "test_size": "test"}  # setting -> what stands in for it


@dataclass(frozen=True, kw_only=True)
class Given:
    """What `nw.fit` is given as data.

    Args:
        data: the rows to learn from, in any of the forms of `data/given/catalog.py`.
        validation: the rows to choose by, in the same form; None: some of `data` are held out.
        test: the rows to report on, in the same form; None: some of `data` are held out, but for
            data with `validation`, of which every row is learned from.
        groups: of each row of `data` (N,), or the column of a table that names it: rows of one
            group are never in two splits.
    """

    data: Any
    validation: Any = None
    test: Any = None
    groups: Any = None

    @property
    def has_splits(self) -> bool:
        """Whether rows are given beside those to learn from."""
        return self.validation is not None or self.test is not None

    def with_sizes(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of the data, with sizes of the parts that are still to be held out.

        Nothing is held out for a part that is given, nor for the test beside given validation rows
        unless `test_size` asks for it.
        """
        sizes = {}
        for size, part in SIZES.items():
            is_given = getattr(self, part) is not None
            if is_given and settings.get(size):
                raise ConfigError(f"{size} is set and {part} rows are given: leave out one of them")
            if is_given or self.validation is not None:
                sizes[size] = 0.0
        found = {**sizes, **settings}
        if self.groups is not None and not any(found.get(size, 1) for size in SIZES):
            raise ConfigError("groups are given, but no rows are held out: leave out groups")
        return found


def with_splits(data: Any, validation: Any = None, test: Any = None, groups: Any = None) -> Any:
    """Data with the rows and groups that stand beside it; alone, it stays what it is."""
    given = Given(data=data, validation=validation, test=test, groups=groups)
    return given if given.has_splits or groups is not None else data


def take_splits(data: Any, settings: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The same where they are among settings, and the other settings."""
    rest = dict(settings)
    beside = {name: rest.pop(name, None) for name in ("validation", "test", "groups")}
    return with_splits(data, **beside), rest
