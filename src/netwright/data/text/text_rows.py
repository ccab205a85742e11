"""Tables with a text in each row: as other tables, but that in a TSV quotes are part of a text.

A tab-separated file in which every line has all fields is read line by line, quotes and all: texts
that begin with a quote are common, and few writers of such files mean anything by it.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from netwright.core.limits import COLUMNS
from netwright.data.files.file_encoding import detected_encoding
from netwright.data.tables.cached.remote_table import local_table
from netwright.data.tables.delimited import detected_note
from netwright.data.tables.dialect import Dialect
from netwright.data.tables.raw_table import RawTable, clean
from netwright.data.tables.reading import read_table
from netwright.data.text.text_files import decode_text, has_ending, text_bytes

TSV = (".tsv", ".tsv.gz", ".tab", ".tab.gz")


def read_text_rows(source: Any, encoding: str = "") -> RawTable:
    """A path, a frame, rows as dicts or a raw table, as a raw table."""
    if isinstance(source, RawTable):  # read already: a server asks for it a thousand times a second
        return source
    if isinstance(source, str | os.PathLike) and has_ending(Path(source), TSV):
        path = source = local_table(source)
        found = _plain_file(path, encoding) if path.is_file() else None
        if found is not None:
            return found
    return read_table(source, Dialect(encoding=encoding))


def _plain_file(path: Path, encoding: str) -> RawTable | None:
    content = text_bytes(path)
    detected = "" if encoding else detected_encoding(content)
    found = plain_table(path.name, decode_text(path.name, content, detected or encoding))
    return found and replace(found, notes=(*detected_note(detected), *found.notes))


def plain_table(name: str, text: str) -> RawTable | None:
    """The rows of tab-separated lines; None where a line has more or fewer fields than others."""
    numbered = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line]
    fields = [line.split("\t") for _, line in numbered]
    header, *rows = fields
    COLUMNS.check(name, len(header))
    is_plain = len(set(header)) == len(header) > 1 and all(header)
    if not rows or not is_plain or any(len(row) != len(header) for row in rows):
        return None
    return RawTable(
        name=name,
        columns=dict(zip(header, map(clean, zip(*rows, strict=True)), strict=True)),
        positions=range(len(rows)),
        lines=[number for number, _ in numbered[1:]],
    )


def joined(name: str, parts: Mapping[str, RawTable], split_column: str) -> RawTable:
    """The rows of several tables with the same columns, and a column that names their part."""
    tables = list(parts.values())
    columns = {
        column: [cell for table in tables for cell in table.column(column)]
        for column in tables[0].columns
    }
    columns[split_column] = [part for part, table in parts.items() for _ in range(len(table))]
    return RawTable(name=name, columns=columns, positions=range(len(columns[split_column])))
