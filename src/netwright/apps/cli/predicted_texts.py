"""Texts as `netwright predict` takes and gives them: a line each, or rows of a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netwright.data.preprocessing import Preprocessor
    from netwright.data.tables.raw_table import RawTable
    from netwright.recipes.run.answer_table import Answers
    from netwright.recipes.run.run import Run

OPEN_ALREADY = ("/dev/stdin", "/dev/fd/")  # pipes that the shell hands over


def read_texts(preprocessor: "Preprocessor", source: str) -> Any:
    """The lines of a file or of standard input; a table and tagged sentences as what they are."""
    from netwright.apps.cli.standard_input import INPUT, read_standard_input
    from netwright.data.text.text_files import decode_text, read_text
    from netwright.data.text.text_lines import has_lines
    from netwright.recipes.run.given_rows import read_given, read_lines

    if source == "-":
        return read_given(preprocessor, INPUT, read_standard_input())
    if not has_lines(source):
        return preprocessor.read(source)
    path, encoding = Path(source).expanduser(), getattr(preprocessor, "encoding", None)
    if source.startswith(OPEN_ALREADY):
        return read_lines(preprocessor, source, decode_text(source, path.read_bytes(), encoding))
    return read_lines(preprocessor, path.name, read_text(path, encoding))


def beam_settings(beams: int | None, length_penalty: float | None) -> dict[str, Any]:
    """The settings of a beam search that were given; none: each token is the likeliest."""
    from netwright.core.errors import ConfigError

    if beams is None and length_penalty is not None:
        raise ConfigError("--length-penalty is for beam search: give --beams, too")
    given = {"beams": beams, "length_penalty": length_penalty}
    return {name: value for name, value in given.items() if value is not None}


def complete_pairs(
    run: "Run", table: "RawTable", columns: tuple[str, str], search: dict[str, Any]
) -> "Answers":
    """Each source and the target that a beam search finds, by the names of their columns."""
    from netwright.recipes.run.translation import translate

    source, target = columns
    return {source: list(table.column(source)), target: translate(run, table, **search)}
