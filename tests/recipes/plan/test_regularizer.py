"""A regularizer's settings are those of the configs, with a strength to begin with."""

import pytest

from netwright.core.card import Card
from netwright.recipes.plan.regularizer import Regularizer


def test_settings_carry_the_words_of_the_config_and_a_first_strength() -> None:
    card = Card(sentence="Both.", formula="x", source="nobody")
    first = {"train.l1": 0.25, "model.dropout": 0.5}
    row = Regularizer(card=card, acts="callback", first=first, code=())
    l1, dropout = row.settings()
    assert (l1.name, l1.default) == ("train.l1", 0.25)
    assert l1.doc == "L1 penalty, lambda |w|: small weights become exactly 0"
    assert (dropout.name, dropout.default) == ("model.dropout", 0.5)


def test_a_setting_that_there_is_not_is_an_error_of_the_table() -> None:
    card = Card(sentence="None.", formula="x", source="nobody")
    row = Regularizer(card=card, acts="callback", first={"train.nothing": 1}, code=())
    with pytest.raises(KeyError):
        row.settings()
