"""Rows that are given to choose by or to report on: encoded as the training rows were.

They are one source that holds inputs and targets (a frame, a file), or a pair (inputs, targets),
perhaps with weights.
"""

from dataclasses import replace
from typing import Any

from torch import Tensor

from netwright.core.errors import NetwrightError
from netwright.data.arrays import read_weights
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
    """The rows as the encoder makes them, and what is to be said of them."""
    if source is None:
        return None, ()
    try:
        inputs = source[0] if isinstance(source, tuple) else encoder.read_labelled(source)
        split = Split(
            inputs=encoder.encode(inputs),
            targets=encoder.encode_targets(source[1] if isinstance(source, tuple) else inputs),
            weights=_weights(encoder, source, inputs),
        )
        remarks = encoder.remarks(inputs)
    except NetwrightError as error:
        raise type(error)(f"{name}: {error}") from None
    return split, (f"{len(split)} {name} rows are given", *(f"{one} ({name})" for one in remarks))


def _weights(encoder: Preprocessor, source: Any, inputs: Any) -> Tensor | None:
    if not isinstance(source, tuple):
        return encoder.encode_weights(inputs)
    return read_weights(source[2], len(source[1])) if len(source) > 2 else None
