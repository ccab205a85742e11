"""Answers as JSON, a text for each row, written a column at a time.

What `json` does for each object anew, to read its options and to join its parts, takes ten times
as long as the few numbers of an answer. The texts are those of `json.dumps`, byte for byte.

Shapes: N rows.
"""

import json
from collections.abc import Sequence
from typing import Any

from netwright.recipes.run.answer_table import Answers

WRITER = json.JSONEncoder(allow_nan=False)  # `json.dumps` with an option makes one each time
SIMPLE = frozenset({float, int, bool, type(None)})  # values in whose text there is no comma


def written(value: Any) -> str:
    """A value as JSON in ASCII without control characters; NaN is a ValueError."""
    return WRITER.encode(value).replace("\x7f", "\\u007f")


def written_rows(answers: Answers) -> list[str]:
    """Each row as a JSON object (N,)."""
    names = (written(str(name)).replace("%", "%%") for name in answers)
    row = "{" + ", ".join(f"{name}: %s" for name in names) + "}"
    columns = [_written_column(column) for column in answers.values()]
    return [row % values for values in zip(*columns, strict=True)]


def _written_column(column: Sequence[Any]) -> Sequence[str]:
    kinds = set(map(type, column))
    if kinds and kinds <= SIMPLE:
        return written(list(column))[1:-1].split(", ")
    if kinds == {str}:  # many rows have few classes
        texts = {one: written(one) for one in set(column)}
        return [texts[one] for one in column]
    return [written(one) for one in column]
