"""Arrays as they are given: inputs and targets, and perhaps how much each row counts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from netwright.core.errors import ConfigError
from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.dataset import Data
from netwright.data.given.form import GivenForm
from netwright.data.given.given import Given
from netwright.data.loading.mapped_inputs import is_stored
from netwright.data.missing_values import complete_rows
from netwright.data.sparse_rows import rows_of


def is_pair(source: Any) -> bool:
    """Whether these are inputs and targets, perhaps with weights."""
    return isinstance(source, tuple) and len(source) in {2, 3}


def check_same_form(given: Given, wanted: str) -> None:
    """Refuse validation or test rows that are no tuple where the data is one."""
    for name, part in (("validation", given.validation), ("test", given.test)):
        if part is not None and not is_pair(part):
            raise ConfigError(f"{name} must be {wanted} as the data is, got {type(part).__name__}")


def _load(given: Given, config: ArraysConfig) -> Data:
    check_same_form(given, "(inputs, targets[, weights])")
    dropped: tuple[str, ...] = ()
    if config.missing == "drop":
        given, dropped = _complete(given)
    inputs, targets, *rest = given.data
    data = from_arrays(
        inputs,
        targets,
        config=config,
        weights=rest[0] if rest else None,
        groups=given.groups,
        validation=given.validation,
        test=given.test,
    )
    notes = (*dropped, *data.notes)
    return replace(data, test_is_given=given.test is not None, notes=notes)


def _complete(given: Given) -> tuple[Given, tuple[str, ...]]:
    """The rows in which nothing is missing, and how many were dropped."""
    parts = {"data": given.data, "validation": given.validation, "test": given.test}
    if is_stored(rows_of(given.data[0])):
        return given, ()  # whoever reads it says that it has to be done before
    if given.groups is not None:  # a row goes with its group
        parts["data"] = (*given.data, given.groups)
    kept = {name: complete_rows(name, part) for name, part in parts.items() if part is not None}
    found = {name: part for name, (part, _) in kept.items()}
    if given.groups is not None:
        found["data"], found["groups"] = found["data"][:-1], found["data"][-1]
    return replace(given, **found), tuple(note for _, note in kept.values() if note)


def _settings(_source: Any, _settings: Mapping[str, Any]) -> type[ArraysConfig]:
    return ArraysConfig


ARRAYS = GivenForm(
    name="arrays (inputs, targets[, weights])", recognises=is_pair, settings=_settings, load=_load
)
