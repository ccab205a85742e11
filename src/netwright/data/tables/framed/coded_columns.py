"""Columns that a frame holds as categories though these are numbers, such as codes of areas.

Who says that 75 and 13 are categories does not want 75 to be more than 13. Categories that are text
need no such word: they are inferred as the text of a file is.
"""

from typing import Any

import numpy as np

NUMBERS = "iuf"  # NumPy's letters for int, unsigned and float


def holds_codes(dtype: Any) -> bool:
    """Whether a column of this type, of pandas or of Arrow, has numbers as its categories."""
    categories = getattr(dtype, "categories", None)  # of pandas
    if categories is not None:
        return categories.dtype.kind in NUMBERS
    is_dictionary = hasattr(dtype, "index_type")  # of Arrow
    return is_dictionary and np.dtype(dtype.value_type.to_pandas_dtype()).kind in NUMBERS
