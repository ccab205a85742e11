"""Each guard that is undone turns cases red that are green with it."""

import pytest

from tests.hostile.guard import Guard
from tests.hostile.planted import PLANTED
from tests.repetition import slow_but

QUICK = ("links in data are followed", "devices are read", "YAML may be as deep as it likes")


@pytest.mark.parametrize("bug", slow_but(QUICK, PLANTED))
def test_a_planted_bug_is_seen(guard: Guard, bug: str) -> None:
    for case in PLANTED[bug].seen_by:
        assert guard.try_case(case, planted=bug).faults, case
