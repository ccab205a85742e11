"""The parts that the processes of one run wrote are one map."""

from pathlib import Path

from tests.mutants.function_map import outermost, read_map, write_part


def test_what_is_defined_inside_a_function_counts_as_the_function() -> None:
    assert outermost("Store.save.<locals>.write.<locals>.<lambda>") == "Store.save"
    assert outermost("write_text") == "write_text"


def test_parts_are_read_as_one_map_with_the_shortest_test_first(tmp_path: Path) -> None:
    long, short, other = "tests/a.py::long", "tests/a.py::short", "tests/b.py::other"
    first = {long: {"core/x.py::A.f", "core/x.py::g"}, short: {"core/x.py::A.f"}}
    write_part(tmp_path / "parts" / "gw0.json.gz", {long: 2.0, short: 0.5}, first)
    write_part(tmp_path / "parts" / "gw1.json.gz", {other: 1.0}, {other: {"core/x.py::A.f"}})
    found = read_map(tmp_path / "parts")
    assert found.seconds == {long: 2.0, short: 0.5, other: 1.0}
    assert found.that_run(["core/x.py::A.f"]) == [short, other, long]
    assert found.that_run(["core/x.py::g"]) == [long]
    assert found.that_run(["core/x.py::A"]) == []
    assert found.that_run(["core/x.py::A."]) == [short, other, long]
    assert found.that_run(["core/y.py::", "core/x.py::g"]) == [long]
    assert found.in_file("tests/a.py") == [short, long]
