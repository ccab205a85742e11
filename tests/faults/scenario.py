"""A scenario: one kind of fault, made many times, and how often the library kept its promise."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What one scenario measured.

    Args:
        n: how many faults were made.
        passed: after how many of them the promise held.
        counts: numbers which show that the faults were real, such as kills that landed.
    """

    n: int
    passed: int
    counts: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A kind of fault with its code in the table of faults.

    Args:
        code: "T07".
        title: the fault in a few words.
        measure: takes an empty folder, makes the faults, counts what held.
        least: the counts without which the faults were not real, with their floors.
    """

    code: str
    title: str
    measure: Callable[[Path], Figures]
    least: Mapping[str, float]

    def shortfalls(self, figures: Figures) -> dict[str, float]:
        """The floors that the counts did not reach."""
        counts, floors = figures.counts, self.least.items()
        return {name: floor for name, floor in floors if counts.get(name, 0) < floor}

    def is_green(self, figures: Figures) -> bool:
        """Whether the promise held after every fault, and the faults were real."""
        return figures.passed == figures.n > 0 and not self.shortfalls(figures)
