"""`netwright predict`: labels, reals or probabilities for new rows."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from netwright.recipes.run import Run

TOGETHER = 256  # images that are in memory at a time


def predict(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            help="A table with the run's columns (- is standard input), or images and folders."
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
        typer.Option(help="Two classes: from which probability on the second is given."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, one object a row.")] = False,
) -> None:
    """Predict new rows or images; a CSV table goes to standard output.

    netwright predict RUN rows.csv --proba > answers.csv
    cat rows.csv | netwright predict RUN -
    netwright predict RUN --row "student=No,balance=1200,income=30000"
    netwright predict RUN photo.jpg more_photos/
    """
    from netwright.core.console import give, give_json
    from netwright.core.errors import ConfigError
    from netwright.recipes.run import open_run

    if bool(sources) == (row is not None):
        raise ConfigError("predict takes files or --row, one of them")
    opened = open_run(run)
    if opened.preprocessor.kind == "images":
        answers = _answer_images(opened, sources or [], proba=proba, threshold=threshold)
    else:
        answers = _answer_table(opened, sources or [], row, proba=proba, threshold=threshold)
    if as_json:
        give_json(answers)
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(answers[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(answers)
    give(text.getvalue())


def _answer_table(
    run: "Run", sources: list[str], row: str | None, *, proba: bool, threshold: float | None
) -> list[dict[str, Any]]:
    """One answer a row of the table."""
    from netwright.core.console import warn
    from netwright.core.errors import ConfigError

    if len(sources) > 1:
        raise ConfigError(f"predict takes one table, got {len(sources)} files")
    rows = run.preprocessor.read(_read_source(sources[0]) if row is None else read_row(row))
    for remark in run.preprocessor.remarks(rows):
        warn(remark)
    return answer(run, rows, proba=proba, threshold=threshold)


def _answer_images(
    run: "Run", sources: list[str], *, proba: bool, threshold: float | None
) -> list[dict[str, Any]]:
    """One answer an image, after the name of its file."""
    from netwright.core.errors import ConfigError
    from netwright.data.images.file_names import shown
    from netwright.data.images.listing import files_at

    if not sources:
        raise ConfigError("--row is for tables, this run was trained on images")
    if run.spec.target == "mask":
        raise ConfigError(
            "a mask is no row of a table; in Python, run.predictions(path) gives its probabilities"
        )
    files = [file for source in sources for file in files_at(source)]
    answers = []
    for start in range(0, len(files), TOGETHER):
        some = files[start : start + TOGETHER]
        given = answer(run, run.preprocessor.read(some), proba=proba, threshold=threshold)
        answers += [{"file": shown(file), **one} for file, one in zip(some, given, strict=True)]
    return answers


def answer(
    run: "Run", rows: Any, *, proba: bool = False, threshold: float | None = None
) -> list[dict[str, Any]]:
    """One mapping a row: the prediction, and with `proba` the probability of each class."""
    labels = run.predict(rows, threshold=threshold)
    spec = run.spec
    names = list(spec.class_names if spec.target == "labels" else spec.target_names)
    if spec.target == "class" or not names:
        names = names[:1] or ["prediction"]
    columns = labels.reshape(len(labels), -1).tolist()
    answers = [dict(zip(names, values, strict=True)) for values in columns]
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


def _read_source(source: str) -> Any:
    """A path, or the rows of a CSV table on standard input."""
    if source != "-":
        return source
    from netwright.data.tables.delimited import parse_delimited

    return parse_delimited("standard input", sys.stdin.buffer.read(), delimiter="")
