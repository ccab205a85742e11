"""Each guard that is undone turns cases red that are green with it."""

import pytest

from tests.hostile.guard import Guard
from tests.hostile.planted import PLANTED


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_seen(guard: Guard, bug: str) -> None:
    for case in PLANTED[bug].seen_by:
        assert guard.try_case(case, planted=bug).faults, case
