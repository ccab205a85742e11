"""Texts that may be something else: what is said of a column of them, and how it is read as that.

Numbers with blanks in them, with a unit beside them or with words among them; dates in several
forms; times of a day.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice

from netwright.data.tables.cells import (
    DATE_FORMS,
    are_mostly,
    as_date,
    in_quotes,
    missing_hint,
    share_of,
    shortened,
)
from netwright.data.tables.number_form import as_amount
from netwright.data.tables.number_marks import CLEAR_SHARE, as_number, fitting_thousands

_NUMBER = r"[+-]?[0-9][0-9.,]*"
_WITH_UNIT = {
    "followed by": re.compile(rf"{_NUMBER}[ \u00a0\u202f]?([^\W\d_]{{1,5}})"),  # 12 kg
    # With a sign in it: THB025 and n7 are names.
    "behind": re.compile(
        rf"([A-Za-z]{{0,3}}[$\u00a3\u00a5\u20a0-\u20c0~\u2248])[ \u00a0\u202f]?{_NUMBER}"
    ),
}
_TIME = re.compile(r"[0-9]{1,4}:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)?(?: ?[AaPp]\.?[Mm]\.?)?")
_LOOKED_AT = 1000  # distinct texts that tell whether they are dates


def number_hint(counts: Mapping[str, int]) -> str:
    """That cells which are no plain numbers may be some, and how they are read so; or nothing."""
    return spaced_thousands(counts) or _share_of_numbers(counts) or _unit_beside(counts)


def _share_of_numbers(counts: Mapping[str, int]) -> str:
    """How many of the cells are numbers, where most are, and how the others could be missing."""
    if not are_mostly(counts, as_amount):
        return ""
    share = share_of(counts, as_amount)
    return f"{share:.0%} of its cells are numbers{missing_hint(counts, as_amount)}"


def _unit_beside(counts: Mapping[str, int]) -> str:
    """That all cells are numbers with one unit beside them, and what to do about it."""
    for where, shape in _WITH_UNIT.items():
        units = {found[1] if (found := shape.fullmatch(text)) else "" for text in counts}
        if len(units) == 1 and (unit := units.pop()):
            return f"its cells are numbers {where} {unit!r}: remove that to learn from the numbers"
    return ""


def spaced_thousands(counts: Mapping[str, int]) -> str:
    """That all cells are numbers with spaces in them, which telephones have too; the setting."""
    marks = {fitting_thousands(text) for text in counts if as_number(text) is None}
    if marks != {"space"}:
        return ""
    return "its cells may be numbers: --set data.thousands=space reads 1 234 as 1234"


def date_hint(counts: Mapping[str, int]) -> str:
    """That most cells are dates, and why they are not read as such."""
    some = dict(islice(counts.items(), _LOOKED_AT))
    if not are_mostly(some, _date):
        return ""
    share = share_of(some, _date)
    if share < CLEAR_SHARE:
        return f"{share:.0%} of its cells are dates{missing_hint(some, _date)}"
    dates = [text for text in some if _date(text)]
    other = next((text for text in dates if _shape(text) != _shape(dates[0])), "")
    said = "its cells are dates in several forms"
    as_these = f", as {shortened(dates[0])} and {shortened(other)}" if other else ""
    return f"{said}{as_these}: write all as 2024-12-31"


def _date(text: str) -> datetime | None:
    return next((date for form in DATE_FORMS if (date := as_date(text, form))), None)


def _shape(text: str) -> str:
    return re.sub("[0-9]+", "0", re.sub("[A-Za-z]+", "a", text))


def case_hint(names: Iterable[str]) -> str:
    """Names that are one but for capital letters, the first of them."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(name.casefold(), []).append(name)
    found = next((group for group in alike.values() if len(group) > 1), None)
    return f"{in_quotes(found)} differ in capital letters alone" if found else ""


def time_hint(counts: Mapping[str, int]) -> str:
    """That all cells are times of a day, or how long something took."""
    if not counts or not all(map(_TIME.fullmatch, counts)):
        return ""
    example = shortened(next(iter(counts)))
    return f"its cells are times, as {example}: write them as numbers, of hours say"
