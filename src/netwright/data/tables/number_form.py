"""Numbers with a sign beside them: $1,234.50, 1.234,50 €, EUR 12, 12%, (3.5), a printed minus.

How a column is written is decided once, by the rows that train, and kept with the model: a cell is
read alike whether it comes with a thousand others or alone. Its decimal mark is a point or a comma,
whichever all of its cells allow; the other one, an apostrophe or a space stands between thousands.
Where they allow both (12 €), a cell is read only where both give the same number: 12.50 €, but not
1.234 €.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from netwright.core.errors import DataError
from netwright.data.tables.number_marks import CLEAR_SHARE, Thousands, as_number

Decimal = Literal["", ".", ","]
PERCENT, MINUS = "%", "\u2212"
LONGEST = 64  # letters of a number
_SIGN = "[$\u00a3\u00a5\u0e3f\u20a0-\u20c0]"
# Without those that are words or names as well: PHP 7, TRY 2, RON 1.
_CODE = (
    "EUR|USD|GBP|CHF|JPY|CNY|INR|KRW|BRL|MXN|ZAR|RUB|UAH|CAD|AUD|NZD|SGD|HKD|SEK|NOK|DKK|ISK|PLN|"
    "CZK|HUF|BGN|ILS|AED|SAR|THB|IDR|MYR|VND"
)
_SPACE = " \u00a0\u202f"
_DRESSED = re.compile(
    # A code stands apart, and no amount begins with 00: CAD1000 and THB 025 are names of things.
    rf"([(+-])?[{_SPACE}]*({_SIGN}|(?:{_CODE})(?=[{_SPACE}])(?!.0[0-9]))?[{_SPACE}]*([(+-])?"
    rf"([.,]?[0-9](?:[0-9.,'\u2019{_SPACE}]*[0-9])?[.,]?)"
    rf"[{_SPACE}]*({_SIGN}|(?<=[{_SPACE}])(?:{_CODE})|{PERCENT})?[{_SPACE}]*(\))?"
)
_DIGITS = {
    decimal: re.compile(
        r"(?:[0-9]+|[0-9]{1,3}(?:"
        + "|".join(
            rf"(?:[{mark}][0-9]{{2,3}})*[{mark}][0-9]{{3}}" for mark in (other, "'\u2019", _SPACE)
        )
        + rf"))?(?:[{decimal}][0-9]*)?"
    )
    for decimal, other in ((".", ","), (",", "."))
}


class _Cell(NamedTuple):
    """The parts of a cell: its sign, its mark ($, EUR, % or none) and what is between them."""

    sign: str
    mark: str
    digits: str


@dataclass(frozen=True, kw_only=True)
class NumberForm:
    """How the numbers of a column are written.

    Args:
        mark: the sign or code of a currency, which a cell may have, or the sign of per cent, which
            all have; or "".
        decimal: the decimal mark; "": the training rows have none.
    """

    mark: str = ""
    decimal: Decimal = ""

    def __post_init__(self) -> None:
        """Refuse what no training rows give: it may come from a file of somebody else."""
        marks = f"({_SIGN}|{_CODE}|{PERCENT})?"
        is_mark = isinstance(self.mark, str) and re.fullmatch(marks, self.mark)
        if not is_mark or self.decimal not in ["", ".", ","]:
            raise DataError(f"numbers are not written with {self.mark!r:.60}, {self.decimal!r:.60}")

    @property
    def reads_plain_numbers(self) -> bool:
        """Whether 1.5 is one and a half here: elsewhere a point stands between thousands."""
        return self.decimal != "," and self.mark != PERCENT

    @property
    def example(self) -> str:
        """A number so written."""
        digits = {"": "12", ".": "1,234.5", ",": "1.234,5"}[self.decimal]
        if self.mark == PERCENT:
            return f"{digits}%"
        return f"{self.mark} {digits}" if self.mark.isalpha() else f"{self.mark}{digits}"

    def number(self, text: str) -> float | None:
        """The number in a cell, or None; 12% is 0.12."""
        text = text.replace(MINUS, "-")
        if self.decimal == "." and self.mark != PERCENT:
            plain = as_number(text)
            if plain is not None:
                return plain
        cell = _parts(text)
        if cell is None or cell.mark not in {self.mark, *([""] if self.mark != PERCENT else [])}:
            return None
        marks = (self.decimal,) if self.decimal else (".", ",")
        values = {_value(cell, decimal) for decimal in marks} - {None}
        return values.pop() if len(values) == 1 else None

    @property
    def decided(self) -> "list[NumberForm]":
        """This form, or with each decimal mark where the training rows have none."""
        marks: tuple[Decimal, ...] = (self.decimal,) if self.decimal else (".", ",")
        return [NumberForm(mark=self.mark, decimal=decimal) for decimal in marks]

    def to_json(self) -> dict[str, str]:
        """Plain text."""
        return {"mark": self.mark, "decimal": self.decimal}


def read_form(values: Any) -> NumberForm | None:
    """The form that `to_json` gave; None of None, as runs have it that were saved before."""
    if values is None:
        return None
    if not isinstance(values, dict) or values.keys() != {"mark", "decimal"}:
        raise DataError(f"a form of numbers must be a mark and a decimal, got {values!r:.60}")
    return NumberForm(**values)


def fitting_forms(
    counts: Mapping[str, int], thousands: Thousands = "", *, decimal_commas: bool = False
) -> list[NumberForm]:
    """The forms in which (nearly) all of these cells are numbers, and no two are the same.

    None where all or no cells are plain numbers; two where it cannot be told whether 1.234 € is
    more than a thousand. Without a sign of a currency or per cent, marks are those of plain
    numbers: a point is decimal, and so is a comma where the file has it so.

    Args:
        counts: text -> how many cells have it.
        thousands: what stands between thousands, where a setting says so.
        decimal_commas: whether 1,5 is one and a half in this file.
    """
    cells = {text: _parts(text.replace(MINUS, "-")) for text in counts}
    amounts: dict[str, int] = {}
    for text, cell in cells.items():
        if cell is not None and cell.mark:
            amounts[cell.mark] = amounts.get(cell.mark, 0) + counts[text]
    signs = {cell.sign for cell in cells.values() if cell is not None}
    has_signs = signs > {"("} or any(MINUS in text for text in counts)
    if not amounts and not has_signs:
        return []
    mark = max(sorted(amounts), key=lambda one: amounts[one], default="")
    given: tuple[Decimal, ...] = {",": (".",), ".": (",",)}.get(thousands, (".", ","))  # type: ignore[assignment]
    with_decimal_commas = decimal_commas or thousands in {"'", "space"}
    if not mark and with_decimal_commas and "," in given and any("," in text for text in counts):
        given = (",",)
    found = {NumberForm(mark=mark, decimal=one): dict[str, float | None]() for one in given}
    for form, values in found.items():
        values |= {text: form.number(text) for text in counts}
    good = {
        form: sum(counts[text] for text, value in values.items() if value is not None)
        for form, values in found.items()
    }
    best = [form for form, number in good.items() if number == max(good.values())]
    if good[best[0]] < CLEAR_SHARE * sum(counts.values()):
        return []
    if len(best) == 1:
        return best
    unclear = [text for text in counts if len(readings(text, best)) == 2]
    if not mark and not any("," in text for text in unclear):
        return best[:1]  # plain numbers have a point
    return best if unclear else [NumberForm(mark=mark)]


def as_amount(text: str) -> float | None:
    """A plain number, or one with a sign of a currency or per cent by either decimal mark."""
    cell = _parts(text.replace(MINUS, "-"))
    if cell is None or not cell.mark:
        return as_number(text)
    values = (NumberForm(mark=cell.mark, decimal=one).number(text) for one in (".", ","))
    return next((value for value in values if value is not None), None)


def readings(text: str, forms: Iterable[NumberForm]) -> set[float]:
    """The numbers that a cell may be, by these forms."""
    return {value for form in forms if (value := form.number(text)) is not None}


def _parts(text: str) -> _Cell | None:
    found = _DRESSED.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        return None
    first, before, second, digits, after, closing = (part or "" for part in found.groups())
    sign = first + second
    if len(sign) > 1 or (before and after) or (sign == "(") != (closing == ")"):
        return None
    return _Cell(sign, before + after, digits)


def _value(cell: _Cell, decimal: str) -> float | None:
    if not _DIGITS[decimal].fullmatch(cell.digits):
        return None
    digits = "".join(
        "." if letter == decimal else letter
        for letter in cell.digits
        if letter.isdigit() or letter == decimal
    )
    sign = "-" if cell.sign in {"-", "("} else ""
    return as_number(f"{sign}{digits}{'e-2' if cell.mark == PERCENT else ''}")
