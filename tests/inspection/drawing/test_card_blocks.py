"""A card on a page: text stays text, formulas are pictures, what is not there is not shown."""

from netwright.core.card import Card
from netwright.inspection.drawing.card_blocks import card_blocks


def test_a_page_shows_a_card_as_text() -> None:
    card = Card(sentence="<b>bold</b>", formula="a < b", symbols={"a": "<i>"}, source="x & y")
    shown = "".join(card_blocks(card))
    assert "<p>&lt;b&gt;bold&lt;/b&gt;</p>" in shown
    assert "<td>&lt;i&gt;</td>" in shown
    assert "Source: x &amp; y" in shown


def test_a_card_without_formula_symbols_or_misprint_is_short() -> None:
    shown = "".join(card_blocks(Card(sentence="What.", formula="", source="A book")))
    assert shown == '<p>What.</p><p class="note">Source: A book</p>'
    wrong = Card(sentence="What.", formula="", source="A book", misprint="Not 3, but 4.")
    assert "<p>Beware: Not 3, but 4.</p>" in "".join(card_blocks(wrong))
