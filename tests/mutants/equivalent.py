"""Mutants that no test can kill, because they do what the code does: named, each with its reason.

A row is matched by the text of the source and not by its line, so that it stays where code moves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

from tests.mutants.mutant import Mutant


@dataclass(frozen=True)
class Equivalent:
    """One change that changes nothing.

    Args:
        file: "core/storage.py", or a pattern of such names.
        change: the change as it is reported, or a pattern.
        why: the reason.
        within: a part of the statement, where the change alone is not clear.
    """

    file: str
    change: str
    why: str
    within: str = ""

    def is_of(self, file: str) -> bool:
        """Whether it may speak of mutants of this file."""
        return fnmatch(file, self.file)

    def matches(self, mutant: Mutant) -> bool:
        """Whether this row speaks of this mutant."""
        same_change = self.change == mutant.change or fnmatch(mutant.change, self.change)
        return self.is_of(mutant.file) and same_change and self.within in mutant.before


EQUIVALENT = (
    Equivalent(
        "data/checkup/raw_source.py",
        "'biuf' -> 'XXbiufXX'",
        "numpy has no kind of number X, so the longer string holds the same kinds",
    ),
    Equivalent(
        "data/input_profile.py",
        "22 -> 23",
        "how many numbers are looked at together changes memory, and no result",
        within="STRETCH =",
    ),
    Equivalent(
        "data/series/time_order.py",
        "1 -> 2",
        "-2 as well as -1 comes before the first row, which is 0",
        within="latest, before = (-1, '')",
    ),
    Equivalent(
        "data/tables/cells.py",
        "raise AssertionError('every cell is a number') -> pass",
        "not reached: who asks has seen that a cell is no number",
    ),
    Equivalent(
        "data/tables/delimited.py",
        "if 'expected after' in error: -> if True:",
        "csv's strict reader knows no further error than the three that are told apart",
    ),
    Equivalent(
        "optimizers/curvature.py",
        "if together is not None: -> if False:",
        "one direction after the other gives the same products, later",
    ),
)


def reason(mutant: Mutant, table: Sequence[Equivalent] = EQUIVALENT) -> str:
    """Why this mutant does what the code does; empty where it does not."""
    return next((row.why for row in table if row.matches(mutant)), "")
