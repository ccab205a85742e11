"""Rows that are given are not held out."""

import pytest

from netwright.core.errors import ConfigError
from netwright.data.given.given import Given, take_splits, with_splits


def test_nothing_is_held_out_for_what_is_given() -> None:
    assert Given(data=1).with_sizes({"val_size": 0.3}) == {"val_size": 0.3}
    both = Given(data=1, validation=2, test=3)
    assert both.with_sizes({"target": "y"}) == {"val_size": 0.0, "test_size": 0.0, "target": "y"}
    assert Given(data=1, test=3).with_sizes({}) == {"test_size": 0.0}


def test_beside_validation_rows_a_test_is_held_out_only_where_it_is_asked_for() -> None:
    given = Given(data=1, validation=2)
    assert given.with_sizes({}) == {"val_size": 0.0, "test_size": 0.0}
    assert given.with_sizes({"test_size": 0.5}) == {"val_size": 0.0, "test_size": 0.5}


@pytest.mark.parametrize(("size", "part"), [("val_size", "validation"), ("test_size", "test")])
def test_refuses_two_answers(size: str, part: str) -> None:
    given = Given(data=1, **{part: 2})
    with pytest.raises(ConfigError, match=f"{size} is set and {part} rows are given"):
        given.with_sizes({size: 0.1})
    assert given.with_sizes({size: 0.0})[size] == 0


def test_data_alone_stays_what_it_is() -> None:
    data = object()
    assert with_splits(data) is data
    assert with_splits(data, test=3) == Given(data=data, test=3)
    assert with_splits(data, validation=[]).has_splits  # nothing in it: refused where it is read


def test_groups_where_nothing_is_held_out_are_refused() -> None:
    grouped = Given(data=1, groups=[1, 2])
    assert grouped.with_sizes({}) == {}
    assert grouped.with_sizes({"val_size": 0.0}) == {"val_size": 0.0}  # a test is held out
    with pytest.raises(ConfigError, match="no rows are held out: leave out groups"):
        grouped.with_sizes({"val_size": 0.0, "test_size": 0.0})
    with pytest.raises(ConfigError, match="no rows are held out: leave out groups"):
        Given(data=1, validation=2, groups=[1, 2]).with_sizes({})
    assert with_splits(1, groups=[1]) == Given(data=1, groups=[1])


def test_splits_are_taken_from_among_settings() -> None:
    assert take_splits("digits", {"lr": 0.1}) == ("digits", {"lr": 0.1})
    given, rest = take_splits([1], {"validation": [2], "lr": 0.1})
    assert (given.data, given.validation, given.test, rest) == ([1], [2], None, {"lr": 0.1})
