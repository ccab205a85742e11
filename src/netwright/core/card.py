"""A card: what a part is in one sentence, its formula, its symbols and where it comes from."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Card:
    r"""What `netwright explain` prints.

    Args:
        sentence: what it does, in one sentence.
        formula: LaTeX, without dollar signs.
        symbols: symbol -> meaning, with its shape where it has one.
        source: the paper or book.
        misprint: what is often printed or said wrong, and what is right; empty if there is nothing.
    """

    sentence: str
    formula: str
    symbols: Mapping[str, str] = field(default_factory=dict)
    source: str
    misprint: str = ""

    def __repr__(self) -> str:
        return f"Card({self.sentence})"
