"""A card on a page: the sentence, the formula as a picture, the symbols and the source."""

from netwright.core.card import Card
from netwright.inspection.drawing.formula import formula_block, formula_svg
from netwright.inspection.drawing.page import Html, image, note, table, text


def card_blocks(card: Card) -> list[Html]:
    """Sentence, formula, symbols, misprint and source, for a page."""
    blocks = [text(card.sentence)]
    if card.formula:
        blocks.append(formula_block(card.formula))
    symbols = [
        {"symbol": image(symbol, formula_svg(symbol)), "meaning": meaning}
        for symbol, meaning in card.symbols.items()
    ]
    blocks.append(table(symbols))
    if card.misprint:
        blocks.append(text(f"Beware: {card.misprint}"))
    return [*blocks, note(f"Source: {card.source}")]
