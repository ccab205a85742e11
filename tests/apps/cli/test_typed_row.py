"""One row as it is typed: pairs of name and value, or JSON."""

import pytest

from netwright.apps.cli.typed_row import read_row
from netwright.core.errors import ConfigError


def test_a_row_is_pairs_or_json() -> None:
    assert read_row("a=1, b = x") == {"a": "1", "b": "x"}
    assert read_row(' {"a": 1, "b": "x,y"}') == {"a": 1, "b": "x,y"}


def test_a_column_may_have_an_equals_sign_in_its_name() -> None:
    columns = ["a", "a=b", "c"]
    assert read_row("a=b=1,a=2, c = x=y", columns) == {"a=b": "1", "a": "2", "c": "x=y"}
    assert read_row("a=b=1") == {"a": "b=1"}
    assert read_row("ab=1", columns) == {"ab": "1"}


def test_what_is_neither_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^--row is not JSON: "):
        read_row("{a")
    with pytest.raises(ConfigError, match=r"^--row must be like \"a=1,b=x\" or a JSON object, got"):
        read_row("a")
