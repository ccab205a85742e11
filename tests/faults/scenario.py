"""A scenario: one kind of fault, made many times, and how often the library kept its promise."""

from collections.abc import Callable
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
        slow: whether its test runs in `make test-slow` only.
    """

    code: str
    title: str
    measure: Callable[[Path], Figures]
    slow: bool = False
