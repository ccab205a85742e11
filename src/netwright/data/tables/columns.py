"""What a column is: a number, a category, a date, or nothing that can be learned from.

Only the training rows are looked at, so that no test row decides how the model sees the world.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from netwright.data.tables.cells import (
    category_key,
    check_commas,
    check_points,
    fitting_date_forms,
    one_number_form,
    share_of,
    shortened,
)
from netwright.data.tables.column_cells import Rows, is_padded
from netwright.data.tables.doubts.doubted_texts import date_hint, number_hint, time_hint
from netwright.data.tables.number_form import NumberForm
from netwright.data.tables.number_marks import CLEAR_SHARE, as_number
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.training_column import TrainingColumn

GivenKind = Literal["number", "category", "date", "text"]
LeftOut = Literal["id", "free text", "constant", "empty"]
ColumnKind = GivenKind | LeftOut
Role = Literal["target", "weight", "group", "split", "dropped"]
# More different values than this share of the rows is free text, not a category.
_TEXT_SHARE = 0.9
_CODE = 3  # digits of a code, at least
_CLOCK = re.compile("(?:[01][0-9]|2[0-3])[0-5][0-9]")  # 0930
_SENTENCE = 4  # words, on average, that tell texts from names
# Whole numbers that all differ are an id only under such a name; an x of 0, 1, 2 ... is a number.
_ID_NAME = re.compile(
    r"(?i:(?:^|[_\W])(?:id|uuid|guid)$|^(?:index|idx|key|row|rownames|row_number)$)"
    r"|^Unnamed: 0(?:\.\d+)*$"  # by pandas, once more each time that it is written
    r"|(?<=[a-z])(?:Id|ID)$"
)
_NO_CELL = re.compile(r"<(\w+)>")  # as `values_table` writes a list or a picture


@dataclass(frozen=True, kw_only=True)
class ColumnSummary:
    """One column as it was seen, for reports.

    Args:
        name: the column's name.
        kind: what it was taken for, or the part it plays.
        missing: missing cells in the training rows.
        distinct: different values in the training rows.
        note: what was done with it.
    """

    name: str
    kind: ColumnKind | Role
    missing: int
    distinct: int
    note: str

    @property
    def sentence(self) -> str:
        """The column and what was done with it."""
        return f"{self.name}: {self.note}"

    def to_json(self) -> dict[str, Any]:
        """Plain text and numbers."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Inference:
    """What a column was taken for.

    Args:
        kind: what it is.
        remark: why it is left out, where it is; else what a reader should know.
        date_form: how its dates are written, where it holds dates.
        number_form: how its numbers are written, where they are not plain.
    """

    kind: ColumnKind
    remark: str = ""
    date_form: str = ""
    number_form: NumberForm | None = None


def summarise(column: TrainingColumn, kind: ColumnKind | Role, note: str) -> ColumnSummary:
    """The column as it is seen in the training rows."""
    return ColumnSummary(
        name=column.name, kind=kind, missing=column.missing, distinct=column.distinct, note=note
    )


def infer_column(column: TrainingColumn) -> Inference:
    """Tell what a column is from the training rows; numbers that are no numbers are refused."""
    left_out = _without_values(column)
    if left_out:
        return left_out
    if column.numbers is not None:
        way_out = f"--set data.types.{column.name}=number"
        check_points(column.table, column.name, column.rows, way_out)
        return _infer_padded(column, column.numbers) or _infer_number(column, column.numbers)
    formed = _formed_number(column)
    if formed:
        return formed
    if share_of(column.counts, as_number) >= CLEAR_SHARE:
        return Inference(kind="number")  # fitting it will refuse the few cells that are none
    forms = fitting_date_forms(column.counts)
    if forms:
        return _date(_one_form(column, forms))
    check_commas(column.table, column.name, column.rows)
    return _infer_text(column.name, column.counts)


def forced_column(column: TrainingColumn, kind: GivenKind) -> Inference:
    """The kind that the user gave; only the form of dates and numbers is left to find."""
    left_out = _without_values(column)
    if left_out:
        return left_out
    if kind == "number" and column.numbers is None:
        return _formed_number(column) or Inference(kind=kind)
    if kind != "date":
        return Inference(kind=kind)
    forms = fitting_date_forms(column.counts)
    return _date(_one_form(column, forms) if forms else "iso")


def _date(form: str) -> Inference:
    remark = "years of two digits are 1969 to 2068" if form.endswith("%y") else ""
    return Inference(kind="date", date_form=form, remark=remark)


def _formed_number(column: TrainingColumn) -> Inference | None:
    form = one_number_form(column.table, column.name, column.rows)
    if form is None:
        return None
    remark = written_as(column.table, column.name, column.rows, form)
    return Inference(kind="number", remark=remark, number_form=form)


def written_as(table: RawTable, column: str, rows: Rows, form: NumberForm) -> str:
    """The first number of a column, as it is written and as it is read."""
    cell = next(text for text in table.as_written(column).take(rows) if text)
    value = form.number(cell)
    read = f", read as {value:.10g}" if value is not None else ""
    return f"written as {shortened(cell)}{read}"


def _without_values(column: TrainingColumn) -> Inference | None:
    """Why nothing can be learned from the column: no value, or one only."""
    if column.distinct == 0:
        return Inference(kind="empty", remark="no value in the training rows")
    no_cell = _NO_CELL.fullmatch(next(iter(column.counts))) if column.distinct == 1 else None
    if no_cell and column.table.types.get(column.name) == "":
        remark = f"its values are of type {no_cell[1]}, wanted numbers, texts or dates"
        return Inference(kind="empty", remark=remark)
    if column.distinct == 1 and not column.missing:
        value = shortened(column.cells[0])
        return Inference(kind="constant", remark=f"every value is {value} (constant)")
    return None


def _infer_number(column: TrainingColumn, numbers: NDArray[np.float64]) -> Inference:
    present = numbers[~np.isnan(numbers)]
    is_named = _ID_NAME.search(column.name) is not None
    if is_named and column.distinct == len(present) and (present == np.trunc(present)).all():
        return Inference(kind="id", remark="every value is different (id-like)")
    return Inference(kind="number")


def _infer_padded(column: TrainingColumn, numbers: NDArray[np.float64]) -> Inference | None:
    """Numbers of which some begin with a 0, as 02139: of one width they are names, if they repeat.

    Two digits are months, hours and the like, four may be times of a day, whose order counts; and
    what does not repeat is no category.
    """
    is_whole = bool((np.isnan(numbers) | ((numbers >= 0) & (numbers == np.trunc(numbers)))).all())
    if not is_whole or not column.table.column(column.name).has_padded:
        return None
    padded = next(filter(is_padded, column.counts), "")
    others = [text for text in column.counts if not text.isdigit()]
    if not padded or others or _infer_number(column, numbers).kind == "id":
        return None
    widths = {len(text) for text in column.counts}
    are_names = len(widths) == 1 and widths.pop() >= _CODE
    are_names = are_names and not all(map(_CLOCK.fullmatch, column.counts))
    name, said = column.name, f"{shortened(padded)} begins with 0"
    if are_names and len(column.counts) <= _TEXT_SHARE * sum(column.counts.values()):
        way_out = f"--set data.types.{name}=number reads numbers"
        return Inference(kind="category", remark=f"{said}, as codes do; {way_out}")
    alike = _of_one_category(column.counts)
    if alike:
        one = f"{' and '.join(map(shortened, alike))} are one value, as numbers and as categories"
        return Inference(kind="number", remark=f"{one}: put a letter before codes that differ")
    lost = f"which is lost in a number: --set data.types.{name}=category if it is a code"
    return Inference(kind="number", remark=f"{said}, {lost}")


def _of_one_category(texts: Collection[str]) -> list[str]:
    """The first texts that are one as categories, which are 007 and 7; none where all differ."""
    alike: dict[str, list[str]] = {}
    for text in texts:
        alike.setdefault(category_key(text), []).append(text)
    return next((group for group in alike.values() if len(group) > 1), [])


def reads_like_text(cells: Collection[str]) -> bool:
    """Whether these are sentences rather than names, by how many words they have."""
    return bool(cells) and sum(len(cell.split()) for cell in cells) >= _SENTENCE * len(cells)


def _infer_text(name: str, counts: Mapping[str, int]) -> Inference:
    total = sum(counts.values())
    ways = f"--set data.types.{name}=text learns from its words, --text {name} from it alone"
    doubt = number_hint(counts) or date_hint(counts) or time_hint(counts)
    hint = f"; {doubt}" if doubt else f"; {ways}" if reads_like_text(counts) else ""
    if len(counts) == total:
        return Inference(kind="id", remark=f"every value is different (id-like{hint})")
    if len(counts) > _TEXT_SHARE * total:
        different = f"{len(counts)} of {total} values are different"
        return Inference(kind="free text", remark=f"{different} (free text{hint})")
    return Inference(kind="category", remark=doubt)


def _one_form(column: TrainingColumn, forms: list[str]) -> str:
    if len(forms) == 1:
        return forms[0]
    place = int(np.argmin(column.cells.is_missing))
    raise column.table.refusal(
        int(column.rows[place]),
        column.name,
        f"{shortened(column.cells[place])} may be day/month or month/day, like all its values; "
        f"write 2024-12-31, or drop the column",
    )
