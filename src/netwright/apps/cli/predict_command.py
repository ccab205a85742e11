"""`netwright predict`: what a run says of new rows, texts or images."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from netwright.data.series.encoder import SeriesEncoder
    from netwright.data.tables.raw_table import RawTable
    from netwright.recipes.run import Run

TOGETHER = 256  # images that are in memory at a time
MASKS_TOGETHER = 16  # and with a probability of each class for each of their pixels


def predict(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            help="A table with the run's columns, texts one a line, or images and folders; "
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
        typer.Option(help="Two classes: above which probability the second is given."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Segmentation: the folder that takes a PNG mask an image.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, one object a row.")] = False,
) -> None:
    """Predict new rows, texts or images: a CSV table, or a line for each text, is given.

    netwright predict RUN rows.csv --proba > answers.csv
    cat rows.csv | netwright predict RUN -
    netwright predict RUN --row "student=No,balance=1200,income=30000"
    echo "a fine film" | netwright predict RUN -
    netwright predict RUN photo.jpg more_photos/
    netwright predict RUN photos/ --out masks
    netwright predict RUN series.csv    (a last row without values: what comes next)
    """
    from netwright.core.console import give, give_json
    from netwright.core.errors import ConfigError
    from netwright.recipes.answers import check_asked
    from netwright.recipes.run import open_run

    if bool(sources) == (row is not None):
        raise ConfigError("predict takes files or --row, one of them")
    opened = open_run(run)
    check_asked(opened.spec, threshold=threshold, proba=proba)
    if opened.spec.target == "mask":
        if proba:
            raise ConfigError("--proba is for tables, this run predicts masks")
        answers = _write_masks(opened, sources or [], out)
    elif out is not None:
        raise ConfigError(f"--out is for masks, this run predicts {opened.spec.target}")
    elif opened.preprocessor.kind == "images":
        answers = _answer_images(opened, sources or [], proba=proba, threshold=threshold)
    else:
        answers = _answer_rows(opened, sources or [], row, proba=proba, threshold=threshold)
    if as_json:
        give_json(answers)
    elif opened.spec.target == "tags":
        give("".join(_tagged(**one) + "\n" for one in answers))
    elif opened.spec.inputs == "pairs":
        give("".join(f"{target}\n" for _, target in map(dict.values, answers)))
    else:
        give(_csv(answers))


def _tagged(words: list[str], tags: list[str]) -> str:
    return " ".join(f"{word}/{tag}" for word, tag in zip(words, tags, strict=True))


def _csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _answer_rows(
    run: "Run", sources: list[str], row: str | None, *, proba: bool, threshold: float | None
) -> list[dict[str, Any]]:
    """One answer a row of a table, a text, or a sentence."""
    from netwright.apps.cli.predicted_texts import complete_pairs, tag_words
    from netwright.core.console import warn
    from netwright.core.errors import ConfigError
    from netwright.data.series.encoder import SeriesEncoder
    from netwright.data.text.pair_encoder import PairEncoder

    encoder = run.preprocessor
    if len(sources) > 1:
        raise ConfigError(f"predict takes one table, got {len(sources)} files")
    rows = _read_row(run, row) if row is not None else _read_rows(run, sources[0])
    for remark in encoder.remarks(rows):
        warn(remark)
    if run.spec.target == "tags":
        return tag_words(run, rows)
    if isinstance(encoder, PairEncoder):
        return complete_pairs(run, rows, encoder.columns)
    answers = answer(run, rows, proba=proba, threshold=threshold)
    if isinstance(encoder, SeriesEncoder):
        return [when | one for when, one in zip(_times(encoder, rows), answers, strict=True)]
    return answers


def _answer_images(
    run: "Run", sources: list[str], *, proba: bool, threshold: float | None
) -> list[dict[str, Any]]:
    """One answer an image, after the name of its file."""
    from netwright.core.errors import ConfigError
    from netwright.data.images.file_names import shown
    from netwright.data.images.listing import files_at

    if not sources:
        raise ConfigError("--row is for tables, this run was trained on images")
    files = [file for source in sources for file in files_at(source)]
    answers = []
    for start in range(0, len(files), TOGETHER):
        some = files[start : start + TOGETHER]
        given = answer(run, run.preprocessor.read(some), proba=proba, threshold=threshold)
        answers += [{"file": shown(file), **one} for file, one in zip(some, given, strict=True)]
    return answers


def _write_masks(run: "Run", sources: list[str], out: Path | None) -> list[dict[str, Any]]:
    """One mask an image, of its size and under its name; which went where."""
    from netwright.core.errors import ConfigError
    from netwright.data.images.decoding import read_header
    from netwright.data.images.encoder import ImageEncoder
    from netwright.data.images.file_names import shown
    from netwright.data.images.masks import resize_mask, write_mask

    encoder = run.preprocessor
    if not sources or not isinstance(encoder, ImageEncoder):
        raise ConfigError("--row is for tables, this run was trained on images")
    if out is None:
        raise ConfigError("a mask is no row of a table, give --out FOLDER for one PNG an image")
    files = [file for source in sources for file in encoder.files(Path(source))]
    places = _places(files, out)
    for start in range(0, len(files), MASKS_TOGETHER):
        some = files[start : start + MASKS_TOGETHER]
        masks = encoder.decode_masks(run.predict(encoder.read(some)))
        out.mkdir(parents=True, exist_ok=True)  # not before there is something to write
        for file, mask in zip(some, masks, strict=True):
            header = read_header(file)
            write_mask(places[file], resize_mask(mask, header.height, header.width))
    return [{"file": shown(file), "mask": shown(places[file])} for file in files]


def _places(files: list[Path], out: Path) -> dict[Path, Path]:
    """Image -> where its mask goes; nothing is written over."""
    from netwright.core.errors import ConfigError
    from netwright.data.images.file_names import shown

    if out.is_file():
        raise ConfigError(f"--out must be a folder, {shown(out)} is a file")
    of_place: dict[Path, Path] = {}
    for file in files:
        place = out / f"{file.stem}.png"
        if place in of_place:
            raise ConfigError(
                f"{shown(of_place[place])} and {shown(file)} would both go to {shown(place)}"
            )
        if place.exists():
            raise ConfigError(f"{shown(place)} is there already, give --out another folder")
        of_place[place] = file
    return {file: place for place, file in of_place.items()}


def answer(
    run: "Run", rows: Any, *, proba: bool = False, threshold: float | None = None
) -> list[dict[str, Any]]:
    """One mapping a row: the prediction, and with `proba` the probability of each class."""
    labels = run.predict(rows, threshold=threshold)
    spec = run.spec
    names = list(spec.class_names if spec.target == "labels" else spec.target_names)
    if spec.target == "class" or not names:
        names = names[:1] or ["prediction"]
    columns = labels.reshape(len(labels), -1)
    if spec.target == "real":  # the shortest number that is the same float32
        columns = columns.astype(str).astype(float)
    answers = [dict(zip(names, values, strict=True)) for values in columns.tolist()]
    if proba:
        for given, shares in zip(answers, run.predict_proba(rows).tolist(), strict=True):
            given.update(
                {
                    f"p({name})": round(share, 6)
                    for name, share in zip(spec.class_names, shares, strict=True)
                }
            )
    return answers


def read_row(text: str) -> dict[str, Any]:
    """One row from "a=1,b=x" or from a JSON object."""
    from netwright.core.errors import ConfigError

    if text.lstrip().startswith("{"):
        try:
            values = json.loads(text)
        except ValueError as error:
            raise ConfigError(f"--row is not JSON: {error}") from None
        return dict(values)
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise ConfigError(f'--row must be like "a=1,b=x" or a JSON object, got {text!r}')
    return {name.strip(): value.strip() for name, _, value in pairs}


def _read_row(run: "Run", row: str) -> Any:
    from netwright.core.errors import ConfigError

    if run.spec.target == "tags" or run.preprocessor.kind == "symbols":
        raise ConfigError("--row is for tables, this run takes one text a line")
    return run.preprocessor.read(read_row(row))


def _read_rows(run: "Run", source: str) -> Any:
    """What a file, or standard input, holds: texts, or a table."""
    from netwright.apps.cli.predicted_texts import read_texts, takes_texts
    from netwright.data.tables.delimited import parse_delimited

    if takes_texts(run.preprocessor):
        return read_texts(run.preprocessor, source)
    if source != "-":
        return run.preprocessor.read(source)
    return run.preprocessor.read(parse_delimited("standard input", sys.stdin.buffer.read()))


def _times(encoder: "SeriesEncoder", table: "RawTable") -> list[dict[str, Any]]:
    """Which row each forecast is of: its time, where there is one, or else its place."""
    forecast = range(encoder.first_row, len(table))
    if encoder.time is not None:
        times = table.column(encoder.time)
        return [{encoder.time: times[row]} for row in forecast]
    name, places = ("row", table.positions) if table.lines is None else ("line", table.lines)
    return [{name: places[row]} for row in forecast]
