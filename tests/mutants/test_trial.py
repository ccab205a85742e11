"""What tests see is killed, what they do not see survives; tests that fail anyway say nothing."""

import time
from functools import partial
from pathlib import Path

import pytest

from netwright.core.checks import check_positive
from tests.mutants import trial
from tests.mutants.child import Child
from tests.mutants.function_map import FunctionMap
from tests.mutants.mutant import mutants_of
from tests.mutants.planting import compiled, functions_to_change, package_folder
from tests.mutants.session import Selection
from tests.mutants.trial import Trial, change_functions

FILE, CHANGE = "core/checks.py", "value > 0 -> value >= 0"
ASKS = "from netwright.core.checks import check_positive\n\n\n"
WEAK = f"{ASKS}def test_one():\n    check_positive('x', 1)\n"
STRONG = f"""import pytest
{ASKS}def test_nought():
    with pytest.raises(ValueError):
        check_positive('x', 0)
"""
WRONG = "def test_that_always_fails():\n    assert False\n"
ONCE = """import os
import pytest

@pytest.mark.parametrize("place", range(9))
def test_that_fails_where_it_comes_first(place):
    assert "ASKED" in os.environ or os.environ.update(ASKED="yes")
"""
ENDLESS = f"""import os, signal
{ASKS}def test_to_the_end():
    try:
        check_positive('x', 0)
    except ValueError:
        return
    os.kill(os.getpid(), signal.SIGXCPU)  # as when the limit is reached
"""


def tried(
    tests: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, seconds: float = 300
) -> tuple[str, str]:
    source = (package_folder() / FILE).read_text(encoding="utf-8")
    mutant = next(one for one in mutants_of(FILE, source) if one.change == CHANGE)
    chosen = []
    for number, text in enumerate(tests):
        path = folder / f"test_asked_{number}.py"
        path.write_text(text)
        chosen.append(Selection((str(path),)))
    monkeypatch.setattr(trial, "selections", lambda mutant, found: iter(chosen))
    found = Trial(package_folder(), FunctionMap({}, {}), time.monotonic() + seconds)
    targets = functions_to_change(compiled(mutant, package_folder()))
    assert [function for function, _ in targets] == [check_positive]
    outcome = found.judge(mutant, partial(change_functions, targets))
    return outcome.verdict, outcome.by.rpartition("::")[2]


def test_what_tests_see_is_killed_by_the_first_that_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tried([WEAK, STRONG], tmp_path, monkeypatch) == ("killed", "test_nought")


@pytest.mark.slow
def test_a_failure_that_moves_from_test_to_test_kills_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "TRIES", 2)
    assert tried([ONCE], tmp_path, monkeypatch) == ("untested", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tests", "verdict"),
    [([WRONG + WEAK], "survived"), (["not python"], "untested"), ([ENDLESS], "timed out")],
)
def test_the_verdict_is_that_of_the_tests(
    tests: list[str], verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tried(tests, tmp_path, monkeypatch) == (verdict, "")


def test_when_the_time_is_over_no_mutant_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tried([STRONG], tmp_path, monkeypatch, seconds=-1) == ("unreached", "")


@pytest.mark.slow
def test_a_group_is_tried_from_the_import_on() -> None:
    """In functions and at import: what comes back is one row for each."""
    source = (package_folder() / FILE).read_text(encoding="utf-8")
    mutants = [one for one in mutants_of(FILE, source) if one.change == CHANGE]
    found = Trial(package_folder(), FunctionMap({}, {}), time.monotonic() + 300)
    (row,) = Child(partial(found.run, mutants)).wait().value
    assert row["verdict"] == "killed"
    assert row["by"].startswith("tests/core/test_checks.py::")
