"""What a run says of new inputs, as columns: no Python object is made for each row but in JSON.

Every door gives these columns: the command prints them, a server sends them.

Shapes: N rows.
"""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from netwright.data.series.encoder import SeriesEncoder
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.raw_table import RawTable
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.spans.span_encoder import SpanEncoder
from netwright.recipes.run.answers import check_asked, in_words
from netwright.recipes.run.run import Run

Answers = dict[str, Sequence[Any]]  # name -> one value a row


def answer(
    run: Run,
    rows: Any,
    *,
    proba: bool = False,
    threshold: float | None = None,
    keep: Sequence[str] | None = None,
) -> Answers:
    """The predictions of rows that the run's preprocessor has read; see `answers_of`."""
    check_asked(run.spec, threshold=threshold, proba=proba)
    values = run.predictions(rows)
    return answers_of(run, rows, values, proba=proba, threshold=threshold, keep=keep)


def answers_of(
    run: Run,
    rows: Any,
    values: Tensor,
    *,
    proba: bool = False,
    threshold: float | None = None,
    keep: Sequence[str] | None = None,
) -> Answers:
    """What the model said of each row, in the words of its data; what names the row comes first.

    Args:
        run: whose model was asked.
        rows: what `run.preprocessor.read` gave.
        values: what `run.predictions` gave of them (N, ...).
        proba: add the probability of each class, to six digits.
        threshold: see `Run.predict`.
        keep: columns of a table to copy; None: those that training took for the names of rows.
    """
    encoder = run.preprocessor
    if isinstance(encoder, SpanEncoder):
        return _marked(rows, values, encoder)
    threshold = run.task.threshold if threshold is None else threshold
    said = in_words(values, rows, run.spec, encoder, threshold=threshold)
    if run.spec.target == "tags":
        return {"words": [list(one.words) for one in rows], "tags": said}
    if isinstance(encoder, PairEncoder):
        source, target = encoder.columns
        return {source: list(rows.column(source)), target: list(said)}
    if run.spec.target == "boxes":
        return {"objects": list(said)}
    answers = _named(run, said)
    if proba:
        for name, column in zip(run.spec.output_names, values.T.tolist(), strict=True):
            answers[f"p({name})"] = [round(share, 6) for share in column]
    return _row_names(run, rows, keep) | answers


def _named(run: Run, said: Any) -> Answers:
    """Predictions by the names of the targets; of labels, by those of the labels."""
    spec = run.spec
    names = list(spec.output_names if spec.target == "labels" else spec.target_names)
    if spec.target == "class" or not names:
        names = names[:1] or ["prediction"]
    columns = said.reshape(len(said), -1)
    if spec.target == "real":  # the shortest number that is the same float32
        columns = columns.astype(str).astype(float)
    return dict(zip(names, columns.T.tolist(), strict=True))


def _row_names(run: Run, rows: Any, keep: Sequence[str] | None) -> Answers:
    """What stands before the answers: the time of a forecast, or the columns that are kept."""
    encoder = run.preprocessor
    if isinstance(encoder, SeriesEncoder):
        return _times(encoder, rows)
    if not isinstance(rows, RawTable):
        return {}
    if keep is None:
        ids = encoder.id_columns if isinstance(encoder, TableEncoder) else ()
        keep = [name for name in ids if name in rows.columns]
    return {name: list(rows.column(name)) for name in keep}


def _times(encoder: SeriesEncoder, table: RawTable) -> Answers:
    """Which row each forecast is of: its time, where there is one, or else its place."""
    if encoder.time is not None:
        return {encoder.time: table.column(encoder.time)[encoder.first_row :]}
    name, places = ("row", table.positions) if table.lines is None else ("line", table.lines)
    return {name: places[encoder.first_row :]}


def _marked(table: RawTable, spans: Tensor, encoder: SpanEncoder) -> Answers:
    """Each question, its answer, and the context in which [[answer]] is marked."""
    question, context, answer = encoder.columns
    return {
        question: list(table.column(question)),
        answer: encoder.write(spans, table),
        context: encoder.write(spans, table, marked=True),
    }


def count_answers(answers: Answers) -> int:
    """How many rows they are of."""
    return len(next(iter(answers.values())))


def as_rows(answers: Answers) -> list[dict[str, Any]]:
    """One mapping a row."""
    return [
        dict(zip(answers, values, strict=True)) for values in zip(*answers.values(), strict=True)
    ]


def as_columns(rows: Sequence[dict[str, Any]]) -> Answers:
    """The same, where all rows have the names of the first."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def as_csv(answers: Answers) -> str:
    """A line for the names and one for each row, quoted where it has to be."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(answers)
    columns = (
        map(json.dumps, column) if name == "objects" else column for name, column in answers.items()
    )
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()
