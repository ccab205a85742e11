"""What a test runs is noted by name, and read back as one map."""

from pathlib import Path

from netwright.core.checks import check_positive
from tests.mutants.map_plugin import Starts, name_of


def test_code_outside_the_rooms_has_no_name() -> None:
    assert name_of(check_positive.__code__) == "core/checks.py::check_positive"
    assert name_of(Path.exists.__code__) is None
    assert name_of(test_code_outside_the_rooms_has_no_name.__code__) is None


def test_what_starts_between_two_begins_is_noted() -> None:
    starts = Starts()
    try:
        seen = []
        for _ in range(2):
            starts.begin()
            check_positive("x", 1)
            check_positive("x", 2)
            seen.append(set(starts.names))
        starts.begin()
        seen.append(set(starts.names))
    finally:
        starts.end()
    check_positive("x", 1)
    assert seen == [{"core/checks.py::check_positive"}] * 2 + [set()]
    assert starts.names == set()
