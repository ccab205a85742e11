"""The file of sentences: what the cards say, to the letter."""

import pytest

from netwright.apps.cli.sentences import FILE, TABLES, as_text, card_sentences, kept_sentences


@pytest.fixture(scope="module")
def on_cards() -> dict[str, dict[str, str]]:
    return card_sentences()


@pytest.mark.parametrize("kind", TABLES)
def test_the_file_says_what_the_cards_say(kind: str, on_cards: dict[str, dict[str, str]]) -> None:
    assert kept_sentences()[kind] == on_cards[kind], "`make sentences` writes the file anew"
    assert all(on_cards[kind].values())


def test_the_file_is_as_it_is_written(on_cards: dict[str, dict[str, str]]) -> None:
    assert FILE.read_text(encoding="utf-8") == as_text(on_cards)
