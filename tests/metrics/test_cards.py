"""Cards: every metric's says what it is, in symbols that its formula has."""

from netwright.core.card import Card
from netwright.metrics import cards
from netwright.metrics.catalog import METRICS
from tests.repetition import for_each

ALL = {name: card for name, card in vars(cards).items() if isinstance(card, Card)}


def test_there_is_one_card_a_metric_under_its_name() -> None:
    assert {name.lower(): card for name, card in ALL.items()} == {
        name: metric.card for name, metric in METRICS.items()
    }


@for_each("name", ALL)
def test_a_card_is_one_full_sentence_with_a_dated_source(name: str) -> None:
    card = ALL[name]
    assert card.sentence[0].isupper()
    assert card.sentence.endswith(".")
    assert card.sentence.count(".") == 1
    assert any(f"({year})" in card.source for year in range(1900, 2030))


@for_each("name", ALL)
def test_a_formula_is_balanced_and_free_of_dollars(name: str) -> None:
    formula = ALL[name].formula
    assert "$" not in formula
    for opening, closing in ("{}", "()"):
        assert formula.count(opening) == formula.count(closing)


@for_each("name", ALL)
def test_every_symbol_stands_in_the_formula(name: str) -> None:
    for symbol in ALL[name].symbols:
        assert symbol in ALL[name].formula
