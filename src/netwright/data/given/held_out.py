"""Rows that are given to choose by or to report on: encoded as the training rows were."""

from dataclasses import replace
from typing import Any

from netwright.core.errors import NetwrightError
from netwright.data.dataset import Data, Split
from netwright.data.given.given import Given
from netwright.data.preprocessing import Preprocessor


def add_splits(data: Data, given: Given) -> Data:
    """The data with the validation and test rows that are given."""
    val, val_notes = _encoded(data.preprocessor, "validation", given.validation)
    test, test_notes = _encoded(data.preprocessor, "test", given.test)
    return replace(
        data,
        val=data.val if val is None else val,
        test=data.test if test is None else test,
        notes=(*data.notes, *val_notes, *test_notes),
        test_is_given=data.test_is_given or test is not None,
    )


def _encoded(encoder: Preprocessor, name: str, source: Any) -> tuple[Split | None, tuple[str, ...]]:
    """The rows of a source that holds inputs and targets, and what is to be said of them."""
    if source is None:
        return None, ()
    try:
        rows = encoder.read_labelled(source)
        split = Split(
            inputs=encoder.encode(rows),
            targets=encoder.encode_targets(rows),
            weights=encoder.encode_weights(rows),
        )
        remarks = encoder.remarks(rows)
    except NetwrightError as error:
        raise type(error)(f"{name}: {error}") from None
    return split, (f"{len(split)} {name} rows are given", *(f"{one} ({name})" for one in remarks))
