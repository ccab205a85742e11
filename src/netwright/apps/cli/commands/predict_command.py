"""`netwright predict`: what a run says of new rows, texts or images."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from netwright.apps.cli.answer_forms import as_json_lines, as_parquet, check_place
from netwright.apps.cli.reading_options import LengthPenalty, WrittenAs, read_as

if TYPE_CHECKING:
    from netwright.data.tables.raw_table import RawTable
    from netwright.recipes.run.answer_table import Answers
    from netwright.recipes.run.run import Run

TOGETHER = 256  # images that are in memory at a time
MOST_NUMBERS = 2**26  # and no more of their pixels and channels
MASKS_TOGETHER = 16  # and with a probability of each class for each of their pixels


def predict(  # noqa: PLR0913, PLR0917 - one argument an option
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            help="A table with the run's columns, one text per line, or images and folders; "
            "- is standard input."
        ),
    ] = None,
    row: Annotated[
        str | None,
        typer.Option(help='One row: "student=No,balance=1200,income=30000", or JSON.'),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = (
        False
    ),
    threshold: Annotated[
        float | None,
        typer.Option(help="For two classes: predict the second above this probability."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column of the table to copy beside the predictions. (the one that identifies "
            "rows)",
        ),
    ] = None,
    beams: Annotated[
        int | None, typer.Option(help="For pairs of texts: search with so many beams. (greedy)")
    ] = None,
    length_penalty: LengthPenalty = None,
    settings: WrittenAs = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where predictions are written: .csv, .parquet, .jsonl or .json, texts .txt; for "
            "masks, a folder for one PNG per image."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, one object per row.")] = False,
) -> None:
    """Predict new rows, texts or images; prints a CSV table, or one line per text.

    netwright predict RUN rows.csv --proba --out answers.csv
    cat rows.csv | netwright predict RUN -
    netwright predict RUN --row "student=No,balance=1200,income=30000"
    echo "a fine film" | netwright predict RUN -
    netwright predict RUN photo.jpg more_photos/
    netwright predict RUN photos/ --out masks
    netwright predict RUN sentences.txt --beams 4
    netwright predict RUN series.csv    (a last row without values: what comes next)
    """
    from netwright.apps.cli.predicted_texts import beam_settings
    from netwright.core.errors import ConfigError
    from netwright.core.files.storage import write_bytes, write_text
    from netwright.core.terminal.console import print_data, print_result
    from netwright.recipes.run.answer_table import count_answers
    from netwright.recipes.run.answers import check_asked
    from netwright.recipes.run.run import open_run

    if not sources and row is None:
        raise ConfigError("predict needs rows: give a file, - for standard input, or --row")
    if sources and row is not None:
        raise ConfigError("predict takes a file or --row, not both")
    opened = open_run(run)
    read_as(opened, settings or [])
    check_asked(opened.spec, threshold=threshold, proba=proba)
    if beams is not None and opened.spec.inputs != "pairs":
        raise ConfigError(f"--beams is for pairs of texts, this run takes {opened.spec.inputs}")
    is_mask = opened.spec.target == "mask"
    form = None if out is None or is_mask else check_place(out, opened, as_json=as_json)
    if is_mask:
        if proba:
            raise ConfigError("--proba is for tables, this run predicts masks")
        answers = _write_masks(opened, sources or [], out)
    elif opened.preprocessor.kind == "images":
        answers = _answer_images(opened, sources or [], proba=proba, threshold=threshold)
    else:
        rows = _read_row(opened, row) if row is not None else _read_rows(opened, sources or [])
        search = beam_settings(beams, length_penalty)
        answers = _answer_rows(opened, rows, keep, search, proba=proba, threshold=threshold)
    if out is None or form is None:
        print_data(_text(opened, answers, as_json=as_json))
        return
    if form == "parquet":
        write_bytes(out, as_parquet(answers))
    elif form == "jsonl":
        write_text(out, as_json_lines(answers))
    else:
        write_text(out, _text(opened, answers, as_json=form == "json"))
    print_result(f"{count_answers(answers)} answers: {out}")


def _text(run: "Run", answers: "Answers", *, as_json: bool) -> str:
    """What goes to standard output, or into a file."""
    from netwright.core.terminal.console import json_text
    from netwright.recipes.run.answer_table import as_csv, as_rows

    if as_json:
        return json_text(as_rows(answers)) + "\n"
    if run.spec.target == "tags":
        return "".join(map(_tagged, answers["words"], answers["tags"]))
    if run.spec.inputs == "pairs":
        _, targets = answers.values()
        return "".join(f"{target}\n" for target in targets)
    return as_csv(answers)


def _tagged(words: list[str], tags: list[str]) -> str:
    return " ".join(f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)) + "\n"


def _answer_rows(
    run: "Run",
    rows: Any,
    keep: list[str] | None,
    search: dict[str, Any],
    *,
    proba: bool,
    threshold: float | None,
) -> "Answers":
    """One answer a row of a table, a text, or a sentence; what names the row stands before it."""
    from netwright.apps.cli.predicted_texts import complete_pairs
    from netwright.core.errors import ConfigError
    from netwright.core.terminal.console import print_warning
    from netwright.data.series.encoder import SeriesEncoder
    from netwright.data.tables.raw_table import RawTable
    from netwright.data.text.pair_encoder import PairEncoder
    from netwright.data.text.spans.span_encoder import SpanEncoder
    from netwright.recipes.run.answer_table import answer

    encoder = run.preprocessor
    has_names = isinstance(encoder, PairEncoder | SeriesEncoder | SpanEncoder)
    if keep is not None and isinstance(rows, RawTable) and not has_names:
        _check_kept(run, rows, keep)
    elif keep:
        raise ConfigError("--keep is for the columns of a table")
    for remark in run.remarks(rows):
        print_warning(remark)
    if search and isinstance(encoder, PairEncoder):
        return complete_pairs(run, rows, encoder.columns, search)
    return answer(run, rows, proba=proba, threshold=threshold, keep=keep)


def _check_kept(run: "Run", table: "RawTable", keep: list[str]) -> None:
    """Refuse columns that the table lacks, or that the answers are called by."""
    from netwright.core.errors import ConfigError

    table.check_columns(keep)
    for name in keep:
        if name in run.spec.target_names:
            raise ConfigError(f"--keep {name} has the same name as the predictions")


def _answer_images(
    run: "Run", sources: list[str], *, proba: bool, threshold: float | None
) -> "Answers":
    """One answer an image, after the name of its file."""
    from netwright.core.errors import ConfigError
    from netwright.data.files.file_names import shown
    from netwright.data.images.listing import files_at
    from netwright.recipes.run.answer_table import answer, as_columns, as_rows

    if not sources:
        raise ConfigError("--row is for tables, this run was trained on images")
    files = [file for source in sources for file in files_at(source)]
    answers: list[dict[str, Any]] = []
    together = max(1, min(TOGETHER, MOST_NUMBERS // run.spec.num_features))
    for start in range(0, len(files), together):
        some = files[start : start + together]
        given = answer(run, run.preprocessor.read(some), proba=proba, threshold=threshold)
        answers += as_rows({"file": [shown(file) for file in some]} | given)
    return as_columns(answers)


def _write_masks(run: "Run", sources: list[str], out: Path | None) -> "Answers":
    """One mask an image, of its size and under its name; which went where."""
    from netwright.core.errors import ConfigError
    from netwright.data.files.file_names import shown
    from netwright.data.images.decoding import read_header
    from netwright.data.images.encoder import ImageEncoder
    from netwright.data.images.masks import resize_mask, write_mask

    encoder = run.preprocessor
    if not sources or not isinstance(encoder, ImageEncoder):
        raise ConfigError("--row is for tables, this run was trained on images")
    if out is None:
        raise ConfigError("masks are not rows of a table, give --out FOLDER for one PNG per image")
    files = [file for source in sources for file in encoder.files(Path(source))]
    places = _places(files, out)
    for start in range(0, len(files), MASKS_TOGETHER):
        some = files[start : start + MASKS_TOGETHER]
        masks = encoder.decode_masks(run.predict(encoder.read(some)))
        out.mkdir(parents=True, exist_ok=True)  # not before there is something to write
        for file, mask in zip(some, masks, strict=True):
            header = read_header(file)
            write_mask(places[file], resize_mask(mask, header.height, header.width))
    return {
        "file": [shown(file) for file in files],
        "mask": [shown(places[file]) for file in files],
    }


def _places(files: list[Path], out: Path) -> dict[Path, Path]:
    """Image -> where its mask goes; nothing is written over."""
    from netwright.core.errors import ConfigError
    from netwright.data.files.file_names import shown

    if out.is_file():
        raise ConfigError(f"--out must be a folder, {shown(out)} is a file")
    of_place: dict[Path, Path] = {}
    for file in files:
        place = out / f"{file.stem}.png"
        if place in of_place:
            raise ConfigError(
                f"{shown(of_place[place])} and {shown(file)} would both be written to "
                f"{shown(place)}"
            )
        if place.exists():
            raise ConfigError(f"{shown(place)} already exists, give --out another folder")
        of_place[place] = file
    return {file: place for place, file in of_place.items()}


def _read_row(run: "Run", row: str) -> Any:
    from netwright.apps.cli.typed_row import read_row
    from netwright.core.errors import ConfigError
    from netwright.data.tables.encoding import TableEncoder

    if run.spec.target == "tags" or run.preprocessor.kind == "symbols":
        raise ConfigError("--row is for tables, this run takes one text per line")
    encoder = run.preprocessor
    columns = [one.name for one in encoder.features] if isinstance(encoder, TableEncoder) else []
    return encoder.read(read_row(row, columns))


def _read_rows(run: "Run", sources: list[str]) -> Any:
    """What a file, or standard input, holds: texts, or a table."""
    from netwright.apps.cli.predicted_texts import read_texts
    from netwright.apps.cli.standard_input import INPUT, read_standard_input
    from netwright.core.errors import ConfigError
    from netwright.data.captions.caption_encoder import CaptionEncoder, is_picture
    from netwright.data.tables.reading import read_table
    from netwright.recipes.run.given_rows import read_given, takes_texts

    encoder = run.preprocessor
    if isinstance(encoder, CaptionEncoder) and all(map(is_picture, map(Path, sources))):
        return encoder.read(list(map(Path, sources)))
    if len(sources) > 1:
        raise ConfigError(f"predict takes one table, got {len(sources)} files")
    (source,) = sources
    if takes_texts(encoder):
        return read_texts(encoder, source)
    if source == "-":
        return read_given(encoder, INPUT, read_standard_input())
    return read_table(source) if encoder.kind == "arrays" else encoder.read(source)
