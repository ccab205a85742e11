"""Texts that are handed over in Python: in a list, a tuple, an array or a series."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def texts_of(source: Any) -> list[str] | None:
    """The texts, at least one; None where this is something else, such as a path or a table."""
    is_series = type(source).__name__ == "Series" and hasattr(source, "to_list")
    is_listed = isinstance(source, Sequence | np.ndarray) and not isinstance(source, str | bytes)
    if not (is_listed or is_series) or not len(source):
        return None
    if not isinstance(source[0] if is_listed else source.head(1).to_list()[0], str):
        return None  # told by the first: the others may be pictures that are decoded one by one
    texts = source.to_list() if is_series else list(source)
    return [str(text) for text in texts] if all(isinstance(one, str) for one in texts) else None
