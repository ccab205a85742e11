"""New rows that come as bytes without a name: on standard input, or in the body of a request."""

from dataclasses import replace
from typing import Any

from netwright.data.files.file_encoding import detected_encoding
from netwright.data.preprocessing import Preprocessor
from netwright.data.series.encoder import SeriesEncoder
from netwright.data.series.symbols import SymbolEncoder
from netwright.data.tables.delimited import parse_delimited
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.raw_table import RawTable
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.row_encoder import RowEncoder
from netwright.data.text.spans.span_encoder import SpanEncoder
from netwright.data.text.text_files import decode_text
from netwright.data.text.text_lines import lines_or_table


def takes_texts(preprocessor: Preprocessor) -> bool:
    """Whether a run with such inputs reads texts."""
    return isinstance(preprocessor, TextEncoder | PairEncoder | SymbolEncoder)


def read_given(preprocessor: Preprocessor, name: str, content: bytes) -> Any:
    """What the bytes hold: texts, one a line, or a table where a line of names is the first.

    Args:
        preprocessor: of the run that is asked.
        name: what refusals call the bytes.
        content: all of them.
    """
    if takes_texts(preprocessor):
        encoding = getattr(preprocessor, "encoding", None)
        if encoding == "":
            encoding = detected_encoding(content)
        return read_lines(preprocessor, name, decode_text(name, content, encoding))
    table = preprocessor.past if isinstance(preprocessor, SeriesEncoder) else preprocessor
    dialect = table.dialect if isinstance(table, TableEncoder) else None
    return preprocessor.read(parse_delimited(name, content, dialect=dialect))


def read_lines(preprocessor: Preprocessor, name: str, text: str) -> Any:
    """The same of a text, for a run that takes texts."""
    column = ""
    if isinstance(preprocessor, RowEncoder):
        column = preprocessor.column
    elif isinstance(preprocessor, PairEncoder | SpanEncoder):
        column = preprocessor.columns[0]
    given = lines_or_table(name, text, column)
    read = preprocessor.read(given)
    if isinstance(preprocessor, PairEncoder) and not isinstance(given, RawTable):
        return replace(read, lines=range(1, len(given) + 1))  # what remarks call them
    return read
