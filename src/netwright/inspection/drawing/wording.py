"""How names and numbers from data are written on figures and in captions.

Names come from files: they may be empty, hold line breaks, or never end.
"""

from collections.abc import Sequence

from netwright.core.errors import DataError

MOST_LETTERS = 18


def short_name(name: str, most: int = MOST_LETTERS) -> str:
    """The name on one line of at most `most` letters; no name at all reads "(empty)"."""
    line = " ".join(name.split()) or "(empty)"
    line = "".join(letter if letter.isprintable() else "?" for letter in line)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def legend_name(name: str) -> str:
    """The short name as a legend shows it: matplotlib hides labels that begin with "_"."""
    short = short_name(name)
    return f"\u200b{short}" if short.startswith("_") else short  # a space of no width


def quoted(name: str) -> str:
    """A name within a sentence: longer than on an axis, and set apart from the words around it."""
    return f'"{short_name(name, 40)}"'


def percent(share: float, places: int = 1) -> str:
    """0.958 as "95.8 %"."""
    return f"{100 * share:.{places}f} %"


def amount(value: float) -> str:
    """How many, or a sum of weights: 1,234 or 12.5."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


def number(value: float) -> str:
    """A measured number in four digits, without an exponent where a person would write none."""
    return f"{value:,.0f}" if 1_000 <= abs(value) < 1e9 else f"{value + 0.0:.4g}"  # -0 is 0


def shown_of(shown: int, total: int) -> str:
    """How many are drawn: "400 of 2,000", or "80" where these are all."""
    return f"{shown:,} of {total:,}" if shown < total else f"{total:,}"


def signed(value: float) -> str:
    """A difference, with its sign also where it is above 0."""
    return f"{'+' if value > 0 else ''}{number(value)}"


def check_names(what: str, names: Sequence[str], count: int) -> None:
    """Refuse names that are not one for each of `count` things."""
    if len(names) != count:
        raise DataError(f"{what} must hold {count} names, got {len(names)}")


def check_several_classes(class_names: Sequence[str]) -> None:
    """Refuse a single class: nothing can be taken for anything else."""
    if len(class_names) < 2:
        raise DataError(f"there must be at least 2 classes, got {len(class_names)}")
