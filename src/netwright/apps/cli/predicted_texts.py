"""Texts as `netwright predict` takes and gives them: a line each, or rows of a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netwright.data.preprocessing import Preprocessor
    from netwright.data.tables.raw_table import RawTable
    from netwright.data.text.conllu import Sentence
    from netwright.data.text.spans.span_encoder import SpanEncoder
    from netwright.recipes.run.run import Run

OPEN_ALREADY = ("/dev/stdin", "/dev/fd/")  # pipes that the shell hands over


def takes_texts(preprocessor: "Preprocessor") -> bool:
    """Whether a run with such inputs reads texts."""
    from netwright.data.series.symbols import SymbolEncoder
    from netwright.data.text.encoder import TextEncoder
    from netwright.data.text.pair_encoder import PairEncoder

    return isinstance(preprocessor, TextEncoder | PairEncoder | SymbolEncoder)


def read_texts(preprocessor: "Preprocessor", source: str) -> Any:
    """The lines of a file or of standard input; a table and tagged sentences as what they are."""
    from netwright.apps.cli.standard_input import INPUT, read_standard_input
    from netwright.data.text.pair_encoder import PairEncoder
    from netwright.data.text.row_encoder import RowEncoder
    from netwright.data.text.spans.span_encoder import SpanEncoder
    from netwright.data.text.text_files import decode_text, read_text
    from netwright.data.text.text_lines import has_lines, lines_or_table

    if source != "-" and not has_lines(source):
        return preprocessor.read(source)
    column = ""
    if isinstance(preprocessor, RowEncoder):
        column = preprocessor.column
    elif isinstance(preprocessor, PairEncoder | SpanEncoder):
        column = preprocessor.columns[0]
    path, encoding = Path(source).expanduser(), getattr(preprocessor, "encoding", None)
    if source == "-":
        name, text = INPUT, decode_text(INPUT, read_standard_input(), encoding)
    elif source.startswith(OPEN_ALREADY):
        name, text = source, decode_text(source, path.read_bytes(), encoding)
    else:
        name, text = path.name, read_text(path, encoding)
    return preprocessor.read(lines_or_table(name, text, column))


def tag_words(run: "Run", sentences: "list[Sentence]") -> list[dict[str, Any]]:
    """The words and the tags of each sentence."""
    return [
        {"words": list(sentence.words), "tags": tags}
        for sentence, tags in zip(sentences, run.predict(sentences), strict=True)
    ]


def mark_answers(run: "Run", table: "RawTable", encoder: "SpanEncoder") -> list[dict[str, Any]]:
    """Each question, its answer, and the context in which [[answer]] is marked."""
    question, context, answer = encoder.columns
    spans = run.predictions(table)
    said = zip(
        table.column(question),
        encoder.write(spans, table),
        encoder.write(spans, table, marked=True),
        strict=True,
    )
    return [dict(zip((question, answer, context), one, strict=True)) for one in said]


def beam_settings(beams: int | None, length_penalty: float | None) -> dict[str, Any]:
    """The settings of a beam search that were given; none: each token is the likeliest."""
    from netwright.core.errors import ConfigError

    if beams is None and length_penalty is not None:
        raise ConfigError("--length-penalty is for beam search: give --beams, too")
    given = {"beams": beams, "length_penalty": length_penalty}
    return {name: value for name, value in given.items() if value is not None}


def complete_pairs(
    run: "Run", table: "RawTable", columns: tuple[str, str], search: dict[str, Any]
) -> list[dict[str, Any]]:
    """Each source and the target that is said of it, by the names of their columns."""
    from netwright.recipes.run.translation import translate

    source, target = columns
    texts = translate(run, table, **search) if search else run.predict(table)
    said = zip(table.column(source), texts, strict=True)
    return [{source: read, target: text} for read, text in said]
