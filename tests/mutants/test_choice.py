"""Own tests that run the function come first, then others, then the rest; new ones always run."""

import pytest

from tests.mutants import choice
from tests.mutants.choice import expected_seconds, importers, own_test_file, selections
from tests.mutants.function_map import FunctionMap
from tests.mutants.mutant import Mutant, mutants_of
from tests.mutants.planting import package_folder
from tests.mutants.session import Selection

OWN = "tests/core/test_x.py"
FOUND = FunctionMap(
    {f"{OWN}::runs_f": 1.0, f"{OWN}::runs_g": 2.0, "tests/a.py::long": 19.0, "tests/b.py::s": 2.0},
    {
        "core/x.py::f": frozenset({f"{OWN}::runs_f", "tests/a.py::long", "tests/b.py::s"}),
        "core/x.py::g": frozenset({f"{OWN}::runs_g"}),
    },
)


def mutant(source: str) -> Mutant:
    return mutants_of("core/x.py", source)[0]


def test_own_tests_come_first_then_the_shortest_of_others() -> None:
    own, others, rest = selections(mutant("def f():\n    return a"), FOUND)
    assert own == Selection((OWN,), unless=frozenset({f"{OWN}::runs_g"}))
    assert own.keeps(f"{OWN}::newer_than_the_map")
    assert others == Selection(("tests/b.py",), only=frozenset({"tests/b.py::s"}))
    assert rest == Selection((OWN,), only=frozenset({f"{OWN}::runs_g"}))
    assert [expected_seconds(one, FOUND) for one in (own, others, rest)] == [1.0, 2.0, 2.0]


def test_a_function_that_no_test_is_known_to_run_gets_all_own_tests() -> None:
    (own,) = selections(mutant("def h():\n    return a"), FOUND)
    assert own == Selection((OWN,))
    assert expected_seconds(own, FOUND) == 3.0


def test_what_takes_effect_at_import_gets_the_tests_of_the_file() -> None:
    own, others = selections(mutant("x = 1"), FOUND)
    assert own == Selection((OWN,))
    assert others.only == frozenset({"tests/b.py::s"})


def test_a_table_without_functions_gets_the_tests_of_its_importers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choice, "importers", lambda package, file: ["core/x.py"])
    (one,) = mutants_of("losses/table.py", "x = 1")
    own, others = selections(one, FOUND)
    assert own == Selection(("tests/losses/test_table.py",))
    assert others.only == frozenset({f"{OWN}::runs_f", f"{OWN}::runs_g", "tests/b.py::s"})


def test_importers_are_found_in_the_source() -> None:
    assert "losses/regression.py" in importers(package_folder(), "losses/loss.py")
    assert "losses/loss.py" not in importers(package_folder(), "losses/loss.py")
    assert own_test_file("data/text/pairs.py") == "tests/data/text/test_pairs.py"
