"""Reading cells as numbers, dates and categories; what is none is refused by its place."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, time
from functools import partial
from shlex import quote
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from netwright.core.errors import DataError
from netwright.data.tables.column_cells import LARGEST, Rows
from netwright.data.tables.number_form import NumberForm, fitting_forms, readings
from netwright.data.tables.number_marks import (
    CLEAR_SHARE,
    as_number,
    fitting_thousands,
    plain_number,
)
from netwright.data.tables.raw_table import RawTable

# "iso" is 2024-12-31, with or without a time; the others may be followed by a time too.
NUMERIC_DATES = (
    *("iso", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%m-%d-%Y", "%d-%m-%Y"),
    *("%d.%m.%y", "%m/%d/%y", "%d/%m/%y"),
)
# Months in English, whole or by three letters: 3 Mar 2021, 03-March-2021, 3-Mar-21; Mar 3, 2021;
# 03MAR2021 and 03MAR21, as SAS writes them.
_DAY_MONTH = r"(?P<day>\d{1,2})[ -]?(?P<month>[A-Za-z]{3,9})\.?[ -]?"
NAMED_DATES = {
    "%d %b %Y": re.compile(rf"{_DAY_MONTH}(?P<year>\d{{4}})"),
    "%d %b %y": re.compile(rf"{_DAY_MONTH}(?P<year>\d{{2}})(?!\d)"),
    "%b %d, %Y": re.compile(r"(?P<month>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})"),
}
DATE_FORMS = (*NUMERIC_DATES, *NAMED_DATES)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
MONTH_NUMBERS = {
    name: place
    for place, whole in enumerate(_MONTHS, 1)
    for name in (whole, whole[:3], *(["sept"] if place == 9 else []))
}

_POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+")  # 0.125 can only be a decimal point
_FEW_MARKS = 3  # of missing cells, in one column
_WORD = re.compile(r"[^\s\d,]{1,12}")  # a comma would divide it

Value = TypeVar("Value")


def as_date(text: str, form: str) -> datetime | None:
    """The date in a cell, or None; a time zone is dropped, the clock's reading is kept.

    2024-12-31 can be read in one way alone, and is, whatever the form.
    """
    if form == "iso" or text[4:5] == "-":
        try:
            return datetime.fromisoformat(text.removesuffix(" UTC")).replace(tzinfo=None)
        except ValueError:
            return None
    return named_date(text, form) if form in NAMED_DATES else numeric_date(text, form)


def numeric_date(text: str, form: str) -> datetime | None:
    """The date in a cell that names its month by a number."""
    if not text[:1].isdigit() or form[2] not in text:  # the separator: most others end here
        return None
    day, _, clock = text.partition(" ")
    try:
        return datetime.combine(datetime.strptime(day, form), clock_time(clock))
    except ValueError:
        return None


def named_date(text: str, form: str) -> datetime | None:
    """The date in a cell that names its month by a word."""
    found = NAMED_DATES[form].match(text)
    month = MONTH_NUMBERS.get(found["month"].lower()) if found else None
    if found is None or month is None:
        return None
    year, rest = found["year"], text[found.end() :]
    if rest and not re.match(r"[ T]|:\d\d:", rest):  # 3 Mar 21:15 is no day of 2021
        return None
    try:
        if len(year) == 2:
            year = str(datetime.strptime(year, "%y").year)
        day = datetime(int(year), month, int(found["day"]))
        return datetime.combine(day, clock_time(rest[1:].strip()))
    except ValueError:
        return None


def clock_time(text: str) -> time:
    """The time beside a date, midnight where there is none: 10:30:00+02:00, 9:05, 3:15 PM GMT+2."""
    text = re.sub(r" (UTC|[A-Z]{2,4}T)([+-]\d{1,2}(:?\d\d)?)?$", "", text)
    if not text:
        return time()
    half = re.fullmatch(r"(\d{1,2})(:\d\d(?::\d\d)?) ?([AaPp])\.?[Mm]\.?", text)
    if half:
        if not 1 <= int(half[1]) <= 12:
            raise ValueError(text)
        hours = int(half[1]) % 12 + 12 * (half[3] in "Pp")
        text = f"{hours:02d}{half[2]}"
    return time.fromisoformat(f"0{text}" if text[1:2] == ":" else text).replace(tzinfo=None)


def category_key(text: str) -> str:
    """What the writings of one category share: 1 and 1.0, TRUE and True.

    Files and frames write the same value differently, and a model meets both.
    """
    lower = text.lower()
    if lower in {"true", "false"}:
        return lower
    # Long digit strings are names: as floats, neighbours would become equal.
    value = as_number(text) if len(text) <= 15 else None
    return text if value is None else repr(value + 0.0)  # + 0.0 makes -0.0 a plain zero


def distinct_categories(counts: Mapping[str, float]) -> dict[str, float]:
    """Name -> count of each category; of several writings of one, the first in order names it."""
    names: dict[str, str] = {}
    found: dict[str, float] = {}
    for text in sorted(counts):
        name = names.setdefault(category_key(text), text)
        found[name] = found.get(name, 0) + counts[text]
    return found


def in_order(names: Iterable[str]) -> list[str]:
    """Names as a reader expects them: by value where all are numbers, else by the alphabet."""
    known = {name: as_number(name) for name in names}
    are_numbers = None not in known.values()
    return sorted(known, key=lambda name: (known[name] if are_numbers else 0, name))


def numbers_of(table: RawTable, column: str, form: NumberForm | None = None) -> NDArray[np.float64]:
    """A column as numbers (N,), NaN where missing; text and infinity are refused by their place.

    Args:
        table: the rows.
        column: its name.
        form: how its numbers are written, where they are not plain; values that are numbers already
            are never read so.
    """
    if form is None or table.types.get(column) in {"int", "float"}:
        values = table.numbers(column)
        if values is None:
            raise _first_wrong_number(table, column)
        return values
    if table.types.get(column) == "" and not form.reads_plain_numbers:
        raise DataError(
            f"{table.name}: column {column!r} holds text and numbers, and 1.5 is not written so in "
            f"this column; give all as text or all as numbers"
        )
    return _formed_numbers(table, column, form)


def _formed_numbers(table: RawTable, column: str, form: NumberForm) -> NDArray[np.float64]:
    codes, texts = table.as_written(column).coded
    known = [form.number(text) if text else math.nan for text in texts]
    is_wrong = [value is None or abs(value) > LARGEST for value in known]
    for row in np.flatnonzero(np.array(is_wrong)[codes]):
        cell, value = texts[codes[row]], known[codes[row]]
        said = "is not finite (the largest number is 3.4e38)"
        if value is None:
            said = f"is not a number as this column has them, {form.example}"
            said = _either(cell, form.decided) or said
        raise table.refusal(int(row), column, f"{shortened(cell)} {said}")
    values: NDArray[np.float64] = np.array(known, np.float64)[codes]
    return values


def one_number_form(table: RawTable, column: str, rows: Rows) -> NumberForm | None:
    """How the numbers of a column are written, by these rows; None where they are plain, or none.

    Where the rows do not tell a decimal mark from one between thousands, the first is refused.
    """
    cells = table.as_written(column).take(rows)
    forms = fitting_forms(cells.counts(), table.thousands, decimal_commas=table.has_decimal_commas)
    if len(forms) < 2:
        return forms[0] if forms else None
    row, cell, said = next(
        (int(np.asarray(rows)[place]), cell, said)
        for place, cell in enumerate(cells)
        if (said := _either(cell, forms))
    )
    raise table.refusal(row, column, f"{shortened(cell)} {said}")


def _either(cell: str, forms: Sequence[NumberForm]) -> str:
    """What is wrong with a cell that may be two numbers, by its form; empty of any other."""
    values = [form.number(cell) for form in forms]
    if len(readings(cell, forms)) < 2:
        return ""
    return (
        f"may be {values[0]:.10g} or {values[1]:.10g}, as no value of the column tells; train with "
        f"--set data.thousands=, or --set data.thousands=."
    )


def _first_wrong_number(table: RawTable, column: str) -> DataError:
    counts = table.column(column).counts()
    for row, cell in enumerate(table.column(column)):
        value = as_number(cell) if cell else 0.0
        if value is None:
            return table.refusal(row, column, _no_number(cell) + missing_hint(counts))
        if abs(value) > LARGEST:
            limit = "is not finite (the largest number is 3.4e38)"
            return table.refusal(row, column, f"{shortened(cell)} {limit}")
    raise AssertionError("every cell is a number")


def dates_of(table: RawTable, column: str, form: str) -> list[datetime | None]:
    """A column as dates, None where missing; what is no date is refused by its place."""
    codes, texts = table.column(column).coded
    known = [as_date(text, form) if text else None for text in texts]
    wrong = [place for place, text in enumerate(texts) if text and known[place] is None]
    for row in np.flatnonzero(np.isin(codes, wrong)):
        shape = "2024-12-31" if form == "iso" else datetime(2024, 12, 31).strftime(form)
        said = f"{shortened(texts[codes[row]])} is not a date such as {shape}"
        raise table.refusal(int(row), column, said)
    return [known[code] for code in codes.tolist()]


def share_of(counts: Mapping[str, int], read: Callable[[str], Value | None]) -> float:
    """The share of the cells, given as text -> count, that can be read so."""
    good = sum(count for text, count in counts.items() if read(text) is not None)
    return good / max(1, sum(counts.values()))


def check_points(table: RawTable, column: str, rows: Rows, way_out: str) -> None:
    """Refuse 1.250 in a file with decimal commas: it may be a thousand and more.

    Args:
        table: the rows.
        column: of plain numbers.
        rows: those that are looked at.
        way_out: the setting with which a point is decimal.
    """
    found = unclear_point(table, column, rows)
    if found is None:
        return
    row, cell = found
    either = f"may be {cell.replace('.', '')} or {cell}, as the file has decimal commas"
    ways = f"train with --set data.thousands=. or, for {cell}, with {way_out}"
    raise table.refusal(row, column, f"{shortened(cell)} {either}; {ways}")


def unclear_point(table: RawTable, column: str, rows: Rows) -> tuple[int, str] | None:
    """The first 1.250 of a file with decimal commas, with its row, where all points are such."""
    if table.thousands or not table.has_decimal_commas or not table.written:
        return None
    cells = table.as_written(column).take(rows)
    dotted = {text for text in cells.counts() if "." in text}
    if not dotted or not all(_POINTS.fullmatch(text) for text in dotted):
        return None
    pairs = zip(rows, cells, strict=True)
    return next((int(row), cell) for row, cell in pairs if cell in dotted)


def check_commas(table: RawTable, column: str, rows: Rows) -> None:
    """Refuse a column of 1,5, 1,234 or 1'234: as a category it would lose its meaning unseen."""
    cells = table.column(column).take(rows)
    counts = cells.counts()
    commas = {text for text in counts if _is_comma_number(text)}
    meant = sum(counts[text] for text in commas) + share_of(counts, as_number) * sum(
        counts.values()
    )
    if commas and meant >= CLEAR_SHARE * sum(counts.values()):
        codes, texts = cells.coded
        there = np.isin(codes, [place for place, text in enumerate(texts) if text in commas])
        first = int(np.argmax(there))
        raise table.refusal(int(np.asarray(rows)[first]), column, _no_number(cells[first]))


def _is_comma_number(text: str) -> bool:
    """Whether this is a number but for its commas, or apostrophes: 1,5 or 1,234.5 or 1'234.5."""
    if "," in text and as_number(text.replace(",", "")) is not None:
        return True
    mark = fitting_thousands(text)
    return mark == "'" or ("," in text and bool(mark))


def _no_number(text: str) -> str:
    """What is wrong with a cell, and how it is written, or read, as a number."""
    mark = fitting_thousands(text)
    if not mark:
        return f"{shortened(text)} is not a number"
    plain = plain_number(text, mark)
    setting = '"data.thousands=\'"' if mark == "'" else f"data.thousands={mark}"  # for a shell
    return (
        f"{shortened(text)} is not a number: write {plain}, or train with --set {setting} to read "
        f"it so"
    )


def are_mostly(counts: Mapping[str, int], read: Callable[[str], Value | None]) -> bool:
    """Whether half of the cells can be read so; a tenth, where the others are signs such as -."""
    others = "".join(text for text in counts if read(text) is None)
    are_signs = bool(others) and not any(map(str.isalnum, others))
    return share_of(counts, read) >= (0.1 if are_signs else 0.5)


def missing_hint(
    counts: Mapping[str, int], read: Callable[[str], float | datetime | None] = as_number
) -> str:
    """The setting with which words that stand among numbers again and again are missing cells.

    Args:
        counts: text -> how many cells have it; a word of one cell is a slip.
        read: what tells a number or a date, None for a word.
    """
    words = [text for text in counts if read(text) is None]
    are_marks = all(counts[word] > 1 and _WORD.fullmatch(word) for word in words)
    if not are_marks or not 1 <= len(words) <= _FEW_MARKS or not are_mostly(counts, read):
        return ""
    setting = quote(f"data.missing={','.join(words)}")
    return f"; if {in_quotes(words)} means missing, train with --set {setting}"


def fitting_date_forms(counts: Mapping[str, int]) -> list[str]:
    """The forms in which (nearly) all of the cells are dates: the best one, or the best ones."""
    shares = {form: share_of(counts, partial(as_date, form=form)) for form in DATE_FORMS}
    best = max(shares.values())
    if shares["iso"] == best >= CLEAR_SHARE:  # which all other forms read as well
        return ["iso"]
    return [form for form, share in shares.items() if share == best >= CLEAR_SHARE]


def shortened(text: str, limit: int = 40) -> str:
    """The text in quotes, cut where it is long."""
    return repr(text if len(text) <= limit else f"{text[:limit]}...")


def in_quotes(texts: Iterable[str]) -> str:
    """Texts in quotes, with commas between them."""
    return ", ".join(shortened(text) for text in texts)
