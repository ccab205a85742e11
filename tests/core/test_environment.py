"""Variables for a block are gone after it, also after an error."""

import os

import pytest

from netwright.core.environment import environment


def test_variables_are_as_they_were_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_ONE", "before")
    monkeypatch.delenv("NETWRIGHT_TWO", raising=False)
    with pytest.raises(KeyError), environment(NETWRIGHT_ONE="within", NETWRIGHT_TWO="within"):
        assert (os.environ["NETWRIGHT_ONE"], os.environ["NETWRIGHT_TWO"]) == ("within", "within")
        raise KeyError
    assert os.environ["NETWRIGHT_ONE"] == "before"
    assert "NETWRIGHT_TWO" not in os.environ
