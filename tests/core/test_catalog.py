"""Catalogs: lazy rows, lookups, and unknown names refused with the nearest one."""

import re
import sys
from collections.abc import Callable

import pytest

from netwright.core.catalog import Catalog
from netwright.core.errors import UnknownNameError


def table() -> Catalog[Callable[[float], float]]:
    return Catalog("function", {"root": "math:sqrt", "sine": "math:sin", "gone": "nowhere:at_all"})


def test_a_row_gives_the_attribute_of_its_module() -> None:
    assert table().load("root")(9.0) == 3.0


def test_names_are_listed_in_the_order_of_the_rows() -> None:
    assert list(table()) == ["root", "sine", "gone"]
    assert len(table()) == 3
    assert "sine" in table()
    assert "cosine" not in table()
    assert 3 not in table()


def test_a_part_that_was_renamed_is_found_by_both_names_and_listed_once() -> None:
    catalog: Catalog[Callable[[float], float]] = Catalog(
        "function", {"root": "math:sqrt"}, renamed={"sqrt": "root"}
    )
    assert catalog.load("sqrt") is catalog.load("root")
    assert "sqrt" in catalog
    assert catalog.present_name("sqrt") == catalog.present_name("root") == "root"
    assert list(catalog) == ["root"]


def test_a_broken_row_breaks_only_itself() -> None:
    catalog = table()
    catalog.check("gone")
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        catalog.load("gone")
    assert catalog.load("sine")(0.0) == 0.0


def test_reading_the_table_imports_nothing() -> None:
    assert "this" not in sys.modules  # the Zen of Python prints itself when imported
    catalog: Catalog[object] = Catalog("module", {"zen": "this:s"})
    assert list(catalog) == ["zen"]
    catalog.check("zen")
    assert catalog.home("zen") == ("this", "s")
    assert "this" not in sys.modules


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("sin", "unknown function 'sin'; did you mean 'sine'?"),
        ("ROOT", "unknown function 'ROOT'; did you mean 'root'?"),
        ("xyz", "unknown function 'xyz'; there are root, sine, gone"),
    ],
)
def test_unknown_name_is_refused_with_a_way_out(name: str, sentence: str) -> None:
    with pytest.raises(UnknownNameError, match=f"^{re.escape(sentence)}$"):
        table().load(name)
    with pytest.raises(UnknownNameError, match=f"^{re.escape(sentence)}$"):
        table().check(name)


@pytest.mark.parametrize("name", ["os:system", "math:sqrt", "math"])
def test_a_name_is_looked_up_and_never_imported(name: str) -> None:
    with pytest.raises(UnknownNameError, match="unknown function"):
        table().load(name)


def test_a_later_change_of_the_rows_does_not_reach_the_table() -> None:
    rows = {"root": "math:sqrt"}
    catalog: Catalog[object] = Catalog("function", rows)
    rows["system"] = "os:system"
    assert "system" not in catalog


def test_what_is_no_text_is_no_name() -> None:
    sentence = "unknown function {'root': 1}; there are root, sine, gone"
    with pytest.raises(UnknownNameError, match=f"^{re.escape(sentence)}$"):
        table().check({"root": 1})  # type: ignore[arg-type]
