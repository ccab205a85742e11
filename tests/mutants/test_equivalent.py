"""Rows of the table are matched by text, and each speaks of something that is there."""

from dataclasses import replace

import pytest

from tests.mutants.equivalent import EQUIVALENT, Equivalent, reason
from tests.mutants.function_map import ROOMS
from tests.mutants.mutant import mutants_of
from tests.mutants.planting import package_folder
from tests.mutants.sample import files_of

MUTANTS = mutants_of("core/x.py", "def f(a):\n    return a[:1] + g(a, 1)\n")


def test_a_row_is_matched_by_text_and_not_by_line() -> None:
    row = Equivalent("core/x.py", "1 -> 2", "both are enough", within="g(a, 1)")
    one = next(one for one in MUTANTS if one.change == "1 -> 2")
    assert reason(one, [row]) == "both are enough"
    assert reason(replace(one, line=99), [row]) == "both are enough"
    assert reason(replace(one, file="core/y.py"), [row]) == ""
    assert reason(replace(one, change="1 -> 3"), [row]) == ""
    assert reason(replace(one, before="return g(b, 1)"), [row]) == ""


@pytest.mark.slow
def test_every_row_speaks_of_mutants_that_there_are() -> None:
    package = package_folder()
    every = [
        one
        for room in ROOMS
        for file in files_of(package, room)
        if any(row.is_of(file) for row in EQUIVALENT)
        for one in mutants_of(file, (package / file).read_text(encoding="utf-8"))
    ]
    assert [row for row in EQUIVALENT if not any(row.matches(one) for one in every)] == []
