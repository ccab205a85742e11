"""No hostile case does harm: each is refused in one sentence, or what is hostile in it is inert."""

import pytest

from tests.hostile.corpus import all_cases, kinds, of_kind, quick_cases
from tests.hostile.guard import Guard
from tests.repetition import slow_but

# Others are much like the first two.
LONG = ("run: files of a finished run", "run: files of a resumed run", "in a new process")


def faults_in(guard: Guard, names: list[str]) -> list[str]:
    """What went wrong in these cases, a line each."""
    verdicts = [guard.try_case(name) for name in names]
    return [
        f"{verdict.case}: {fault}: {line}"
        for verdict in verdicts
        for fault, line in verdict.faults.items()
    ]


def test_there_are_enough_cases_of_every_kind() -> None:
    assert len(all_cases()) >= 1_000
    assert len(quick_cases()) >= 90
    assert {case.kind for case in quick_cases()} == set(kinds())


@pytest.mark.parametrize("kind", slow_but([kind for kind in kinds() if kind not in LONG], kinds()))
def test_no_harm_is_done(guard: Guard, kind: str) -> None:
    assert not faults_in(guard, [case.name for case in quick_cases() if case.kind == kind])


@pytest.mark.slow
@pytest.mark.parametrize("kind", kinds())
def test_no_harm_is_done_by_any_case(guard: Guard, kind: str) -> None:
    assert not faults_in(guard, [case.name for case in of_kind(kind)])
