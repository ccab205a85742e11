"""`netwright studio`: what it refuses before it listens."""

import pytest

from tests.apps.cli.conftest import Type
from tests.apps.hidden_packages import hide_starlette


def test_refuses_in_one_sentence(type_in: Type) -> None:
    pytest.importorskip("httptools")
    assert type_in("studio", "nowhere").err == "error: nowhere is not a folder\n"
    answer = type_in("studio", "--host", "no host")
    assert answer.err == "error: --host must be a name or an address, got 'no host'\n"


def test_without_its_packages_it_says_what_to_install(
    type_in: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_starlette(monkeypatch)
    answer = type_in("studio")
    assert answer.err == "error: the studio needs the extra: pip install 'netwright[studio]'\n"
