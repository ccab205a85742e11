"""Standard input: all of its bytes, or one sentence where it is closed."""

import io
import sys

import pytest

from netwright.apps.cli.standard_input import read_standard_input
from netwright.core.errors import DataError


def test_gives_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\r\n\xff")))
    assert read_standard_input() == b"a\r\n\xff"


def test_refuses_one_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match=r"^standard input is closed, so nothing can be read"):
        read_standard_input()
