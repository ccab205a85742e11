"""Texts as they are handed over: one a line, or rows of a table whose first line names a column."""

import re
from pathlib import Path

from netwright.data.tables.delimited import parse_delimited
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.records import named_delimiter
from netwright.data.text.text_rows import plain_table

WITH_FIELDS = frozenset({".csv", ".tsv", ".tab", ".data", ".parquet", ".pq", ".conllu"})


def has_lines(path: str) -> bool:
    """Whether a file, by its name, holds one text a line, and is no table and no CoNLL-U file."""
    return Path(path.lower().removesuffix(".gz")).suffix not in WITH_FIELDS


def lines_or_table(name: str, text: str, column: str) -> list[str] | RawTable:
    """The lines of a text; where a field of the header is the column, it is read as a table.

    Args:
        name: of the file, for refusals.
        text: what it holds.
        column: that a table would have; empty where no table is meant.
    """
    lines = [line.strip() for line in text.removesuffix("\n").split("\n")]
    _, length = named_delimiter(text)
    first = text[length:].lstrip("\r\n").partition("\n")[0].strip()
    header = [field.strip('" ') for field in re.split("[,;\t]", first)]
    if column and column in header:
        return plain_table(name, text) or parse_delimited(name, text.encode())
    return lines
