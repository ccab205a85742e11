"""Cards: what must be given, what may be left out, and that they stay as they are."""

import dataclasses

import pytest

from netwright.core.card import Card


def test_symbols_and_misprint_may_be_left_out() -> None:
    card = Card(sentence="It adds.", formula="a + b", source="Euclid")
    assert card.symbols == {}
    assert card.misprint == ""


def test_a_card_is_not_changed() -> None:
    card = Card(sentence="It adds.", formula="a + b", source="Euclid")
    with pytest.raises(dataclasses.FrozenInstanceError):
        card.sentence = "It subtracts."  # type: ignore[misc]


def test_the_source_is_not_optional() -> None:
    with pytest.raises(TypeError, match="source"):
        Card(sentence="It adds.", formula="a + b")  # type: ignore[call-arg]
