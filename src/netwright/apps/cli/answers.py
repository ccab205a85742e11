"""What a run says of new rows, as columns: no Python object is made for each row but in JSON."""

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netwright.recipes.run.run import Run

Answers = dict[str, Sequence[Any]]  # name -> one value a row


def answer(
    run: "Run", rows: Any, *, proba: bool = False, threshold: float | None = None
) -> Answers:
    """The predictions, and with `proba` the probability of each class, to six digits."""
    labels, spec = run.predict(rows, threshold=threshold), run.spec
    names = list(spec.output_names if spec.target == "labels" else spec.target_names)
    if spec.target == "class" or not names:
        names = names[:1] or ["prediction"]
    columns = labels.reshape(len(labels), -1)
    if spec.target == "real":  # the shortest number that is the same float32
        columns = columns.astype(str).astype(float)
    answers: Answers = dict(zip(names, columns.T.tolist(), strict=True))
    if proba:
        shares = run.predict_proba(rows).T.tolist()
        for name, column in zip(spec.output_names, shares, strict=True):
            answers[f"p({name})"] = [round(share, 6) for share in column]
    return answers


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
    writer.writerows(zip(*answers.values(), strict=True))
    return text.getvalue()
