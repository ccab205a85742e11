"""The forms in which answers are written to a file; its ending says which.

.csv, .json (one list of objects), .jsonl (one object a line), .parquet (by pyarrow); answers that
are texts: .txt in the place of a table.
"""

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netwright.recipes.run.answer_table import Answers
    from netwright.recipes.run.run import Run

COLUMNS = ("csv", "json", "jsonl", "parquet")
LINES = ("txt", "json", "jsonl")


def check_place(out: Path, run: "Run", *, as_json: bool) -> str:
    """The form that a file's name asks for; a place that is taken, or named otherwise, is refused.

    Args:
        out: the file.
        run: decides whether answers are columns or lines of text.
        as_json: whether --json was given, which leaves one form.
    """
    from netwright.core.errors import ConfigError

    is_text = run.spec.target == "tags" or run.spec.inputs == "pairs"
    forms = ("json",) if as_json else LINES if is_text else COLUMNS
    form = out.suffix.lower().removeprefix(".")
    if form not in forms:
        *others, last = (f".{one}" for one in forms)
        wanted = f"{', '.join(others)} or {last}" if others else last
        raise ConfigError(f"--out must end in {wanted}, got {out}")
    if out.exists():
        raise ConfigError(f"{out} already exists, give --out another name")
    if form == "parquet":
        _check_pyarrow()
    return form


def as_json_lines(answers: "Answers") -> str:
    """One JSON object a row, in ASCII."""
    from netwright.recipes.run.answer_table import as_rows

    lines = [json.dumps(row, allow_nan=False) for row in as_rows(answers)]
    return "".join(f"{line}\n" for line in lines).replace("\x7f", "\\u007f")


def as_parquet(answers: "Answers") -> bytes:
    """The columns as one parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(pa.table({name: list(column) for name, column in answers.items()}), buffer)
    return buffer.getvalue()


def _check_pyarrow() -> None:
    from importlib.util import find_spec

    from netwright.core.errors import ConfigError

    if find_spec("pyarrow") is None:
        raise ConfigError(
            "parquet needs pyarrow: pip install 'netwright[tables]', or write .csv or .jsonl"
        )
