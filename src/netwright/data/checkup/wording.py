"""Counts, shares and lists of names as a sentence says them."""

from collections.abc import Sequence

FEW = 5  # places that a sentence names


def first_few(names: Sequence[object], most: int = FEW) -> str:
    """The first of them, and how many more there are: "3, 8, 11 and 4 more"."""
    shown = ", ".join(str(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def share(count: int, total: int) -> str:
    """A count and its share: "12 of 300 (4.0%)"."""
    return f"{count:,} of {total:,} ({count / total:.1%})"


def counted(count: int, one: str) -> str:
    """A count of things: "1 row", "2,000 rows"."""
    return f"{count:,} {one}{'s' * (count != 1)}"
