"""Names and numbers as a person reads them."""

import pytest

from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import new_figure
from netwright.inspection.drawing.wording import (
    amount,
    check_names,
    check_several_classes,
    legend_name,
    number,
    percent,
    quoted,
    short_name,
    shown_of,
    signed,
)
from tests.repetition import for_each


@for_each(
    ("name", "short"),
    [
        ("setosa", "setosa"),
        ("", "(empty)"),
        (" \n ", "(empty)"),
        ("two\nlines\tand more", "two lines and more"),
        ("nul\x00 and \ud800", "nul? and ?"),
        ("x" * 18, "x" * 18),
        ("x" * 19, "x" * 17 + "…"),
        ("a class with a long name", "a class with a lo…"),
        ("a class with too many", "a class with too…"),
    ],
)
def test_names_fit_one_line(name: str, short: str) -> None:
    assert short_name(name) == short


def test_a_legend_shows_a_name_that_begins_with_an_underscore() -> None:
    figure = new_figure(3.0, 2.0)
    axes = figure.subplots()
    for name in ("_hidden", "plain", "_" * 30):
        axes.plot([0, 1], label=legend_name(name))
    shown = [text.get_text().lstrip("\u200b") for text in axes.legend().get_texts()]
    assert shown == ["_hidden", "plain", "_" * 17 + "…"]
    assert legend_name("plain") == "plain"


def test_names_are_longer_in_sentences_and_set_apart() -> None:
    assert quoted("x" * 41) == '"' + "x" * 39 + '…"'
    assert quoted(r"$\frac{") == r'"$\frac{"'


@for_each(
    ("text", "wanted"),
    [
        (percent(0.958), "95.8 %"),
        (percent(0.986, 0), "99 %"),
        (amount(1234.0), "1,234"),
        (amount(12.5), "12.5"),
        (number(0.012345), "0.01235"),
        (number(-1925.5), "-1,926"),
        (number(999.4), "999.4"),
        (number(2e9), "2e+09"),
        (number(-0.0), "0"),
        (signed(3.0), "+3"),
        (signed(-1234.0), "-1,234"),
        (signed(0.0), "0"),
        (shown_of(400, 2000), "400 of 2,000"),
        (shown_of(2000, 2000), "2,000"),
    ],
)
def test_numbers_by_hand(text: str, wanted: str) -> None:
    assert text == wanted


def test_names_are_as_many_as_things() -> None:
    check_names("class_names", ("a", "b"), 2)
    with pytest.raises(DataError, match=r"^class_names must hold 3 names, got 2$"):
        check_names("class_names", ("a", "b"), 3)


def test_one_class_is_refused() -> None:
    check_several_classes(("a", "b"))
    with pytest.raises(DataError, match=r"^there must be at least 2 classes, got 1$"):
        check_several_classes(("a",))
