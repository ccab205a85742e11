"""Names of a package that are loaded when they are first used."""

import sys
import wave

import pytest

from netwright.core.lazy_names import homes_in, lazy_names

load, list_names, public = lazy_names("xml", {"sqrt": "math", "sax": "xml.sax"}, loaded=["dom"])


def test_a_name_is_an_attribute_of_its_home_or_the_home_itself() -> None:
    assert load("sqrt")(9.0) == 3.0
    assert load("sax") is sys.modules["xml.sax"]


def test_names_are_listed_sorted_with_those_that_are_there_already() -> None:
    assert list_names() == public == ["dom", "sax", "sqrt"]


def test_a_table_by_modules_is_one_by_names() -> None:
    wanted = {"sin": "pack.a", "cos": "pack.a", "mean": "pack.b.c"}
    assert homes_in("pack", {"a": ["sin", "cos"], "b.c": ["mean"]}) == wanted


def test_an_unknown_name_is_an_attribute_error_as_python_words_it() -> None:
    with pytest.raises(AttributeError) as wanted:
        wave.cube  # type: ignore[attr-defined]  # noqa: B018 - the access is the test
    with pytest.raises(AttributeError) as got:
        load("cube")
    assert str(got.value) == str(wanted.value).replace("wave", "xml")


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    assert "this" not in sys.modules  # the Zen of Python prints itself when imported
    lazy_names("somewhere", {"s": "this"})[1]()
    assert "this" not in sys.modules
