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


EQUIVALENT: tuple[Equivalent, ...] = ()


def reason(mutant: Mutant, table: Sequence[Equivalent] = EQUIVALENT) -> str:
    """Why this mutant does what the code does; empty where it does not."""
    return next((row.why for row in table if row.matches(mutant)), "")
