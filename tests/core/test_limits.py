"""Limits: each has its own variable, a default, and a refusal that names the way out."""

import re

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.core.limits import COLUMNS, LIMITS, PIXELS, Limit


def test_each_limit_has_a_variable_of_its_own_and_says_what_it_bounds() -> None:
    assert len({limit.variable for limit in LIMITS}) == len(LIMITS) >= 7
    for limit in LIMITS:
        assert limit.variable.startswith("NETWRIGHT_MAX_")
        assert limit.default > 0
        assert limit.bounds and limit.unit
        if (size := limit.variable.rpartition("_")[2]) in {"MB", "GB"}:
            assert limit.unit == size


def test_more_than_the_limit_is_refused_with_the_variable_that_raises_it() -> None:
    COLUMNS.check("x.csv", 100_000)
    with pytest.raises(DataError) as refusal:
        COLUMNS.check("x.csv", 100_001)
    assert str(refusal.value) == (
        "x.csv holds 100,001 columns, at most 100,000 columns are allowed; if you trust it, "
        "raise NETWRIGHT_MAX_COLUMNS"
    )


def test_a_photograph_is_within_the_limit_and_the_largest_image_of_a_format_is_not() -> None:
    PIXELS.check("photo.jpg", 11_648 * 8_736 / 1e6)
    with pytest.raises(DataError, match="holds 4,295 million pixels, at most 134"):
        PIXELS.check("bomb.jpg", 65_535**2 / 1e6)  # a JPEG's head has 16 bits a side


def test_the_variable_moves_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_MAX_COLUMNS", "5")
    COLUMNS.check("x.csv", 5)
    with pytest.raises(DataError, match="holds 6 columns, at most 5 columns are allowed"):
        COLUMNS.check("x.csv", 6)
    monkeypatch.setenv("NETWRIGHT_MAX_COLUMNS", "")
    assert COLUMNS.value == COLUMNS.default


@pytest.mark.parametrize("text", ["many", "0", "-1", "nan"])
def test_a_variable_that_is_no_positive_number_is_refused(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = Limit(variable="NETWRIGHT_MAX_X", default=1, unit="x", bounds="nothing")
    monkeypatch.setenv("NETWRIGHT_MAX_X", text)
    sentence = f"NETWRIGHT_MAX_X must be a positive number, got {text!r}"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        limit.check("it", 1)
