"""Texts in a list, a tuple, an array or a series; paths and tables are none."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from netwright.data.text.text_lists import texts_of
from tests.repetition import for_each

TEXTS = ["a fine film", "a dull film"]


@for_each("make", [list, tuple, np.array, pd.Series, lambda t: np.array(t, object)])
def test_texts_in_any_row_of_them(make: Any) -> None:
    found = texts_of(make(TEXTS))
    assert found == TEXTS
    assert all(type(text) is str for text in found or ())


def test_a_series_with_an_index_of_its_own() -> None:
    assert texts_of(pd.Series(TEXTS, index=[7, 9])) == TEXTS
    polars = pytest.importorskip("polars")
    assert texts_of(polars.Series(TEXTS)) == TEXTS


@for_each(
    "other",
    [
        *["a fine film", b"bytes", Path("x"), [], [1, 2], ["a", 1], ["a", None], np.zeros(2), 3],
        *[{"text": "a"}, [{"text": "a"}], pd.DataFrame({"text": TEXTS})],
    ],
    ids=repr,
)
def test_all_else_is_none(other: Any) -> None:
    assert texts_of(other) is None
