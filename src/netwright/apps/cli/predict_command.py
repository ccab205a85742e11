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


def predict(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    source: Annotated[
        str | None, typer.Argument(help="A table with the run's columns; - is standard input.")
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
    """Predict new rows; a CSV table goes to standard output.

    netwright predict RUN rows.csv --proba > answers.csv
    cat rows.csv | netwright predict RUN -
    netwright predict RUN --row "student=No,balance=1200,income=30000"
    """
    from netwright.core.console import give, give_json, warn
    from netwright.core.errors import ConfigError
    from netwright.recipes.run import open_run

    if (source is None) == (row is None):
        raise ConfigError("predict takes a table or --row, one of them")
    opened = open_run(run)
    given = read_row(row) if row is not None else _read_source(source or "-")
    rows = opened.preprocessor.read(given)
    for remark in opened.preprocessor.remarks(rows):
        warn(remark)
    answers = answer(opened, rows, proba=proba, threshold=threshold)
    if as_json:
        give_json(answers)
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(answers[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(answers)
    give(text.getvalue())


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
