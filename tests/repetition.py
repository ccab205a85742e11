"""Cases of one kind of which some stay in `make test`; all of them run in `make test-slow`."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow_but(quick: Collection[Any], cases: Iterable[Any]) -> list[Any]:
    """The cases as parameters of a test, slow but for these."""
    given = list(cases)
    assert set(quick) <= set(given), "a quick case must be one of the cases"
    return [case if case in quick else pytest.param(case, marks=pytest.mark.slow) for case in given]
