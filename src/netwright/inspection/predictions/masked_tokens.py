"""What a model of masked text puts into the places that were covered: its guesses, and the truth.

Shapes: T places of one text, V tokens of the vocabulary.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from torch import Tensor

from netwright.core.checks import check_shape
from netwright.data.spec import IGNORED
from netwright.inspection.drawing.text_cells import MONO
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import percent
from netwright.inspection.predictions.next_tokens import (
    VISIBLE,
    Expected,
    draw_cell,
    guess_tokens,
)
from netwright.metrics.samples import check_not_empty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PLACES = 16
AROUND = 24  # letters of the text on either side of a place
CELL, LETTER = 1.15, 0.07  # inches of a guess, and of a letter of the text


@dataclass(frozen=True, kw_only=True)
class Covered:
    """One place that was to be filled in.

    Args:
        before: the end of the text before it.
        stood: what the model read there: a mask, another token, or the true one.
        after: the beginning of the text behind it.
        true: the token that belongs there, with its probability.
        likeliest: the guesses, the first likeliest of all.
    """

    before: str
    stood: str
    after: str
    true: Expected
    likeliest: tuple[Expected, ...]


@dataclass(frozen=True, kw_only=True)
class MaskedTokens(View):
    """A line a place: the text around it, the guesses, and what belongs there.

    Args:
        places: of one text, in order.
    """

    title: ClassVar[str] = "Masked tokens"

    places: tuple[Covered, ...]

    @property
    def size(self) -> tuple[float, float]:
        """A line a place."""
        cells = len(self.places[0].likeliest) + 1
        return (self._letters * LETTER + CELL * cells + 0.4, 0.28 * len(self.places) + 0.6)

    @property
    def caption(self) -> str:
        """How often the first guess is right, and how often the truth is among those shown."""
        count, shown = len(self.places), len(self.places[0].likeliest)
        first = sum(place.likeliest[0].is_true for place in self.places) / count
        among = sum(any(one.is_true for one in place.likeliest) for place in self.places) / count
        return (
            f"Each line: a place that was chosen, in brackets what the model read there, and its "
            f"{shown} likeliest tokens with their probabilities (the darker, the likelier); last "
            f"the true token, framed where it is among them. The first guess is right at "
            f"{percent(first)} of these {count} places, the true token among the {shown} at "
            f"{percent(among)}."
        )

    def draw(self, figure: "Figure") -> None:
        """A table whose cells are coloured by probability."""
        axes, columns = figure.subplots(), len(self.places[0].likeliest)
        room = self._letters * LETTER / CELL  # in cells
        axes.set(xlim=(-room, columns + 1), ylim=(len(self.places), -1))
        axes.axis("off")
        for column, head in enumerate((*(f"{rank + 1}." for rank in range(columns)), "true")):
            axes.text(column + 0.5, -0.5, head, ha="center", va="center", weight="bold")
        middle = -room / 2
        axes.text(middle, -0.5, "the text around it", ha="center", va="center", weight="bold")
        for line, place in enumerate(self.places):
            style: dict[str, Any] = {"va": "center", "size": 8, "family": MONO}
            half = (len(place.stood) / 2 + 1) * LETTER / CELL
            axes.text(middle, line + 0.5, place.stood, ha="center", weight="bold", **style)
            axes.text(middle - half, line + 0.5, place.before, ha="right", **style)
            axes.text(middle + half, line + 0.5, place.after, ha="left", **style)
            for column, one in enumerate(place.likeliest):
                draw_cell(axes, column, line, one, is_framed=one.is_true)
            draw_cell(axes, columns, line, place.true, is_framed=False)

    @property
    def _letters(self) -> int:
        """The letters of the longest line."""
        return 2 * AROUND + max(len(place.stood) for place in self.places) + 2


def measure_masked_tokens(
    logits: Tensor, tokens: Tensor, targets: Tensor, name_of: Callable[[int], str]
) -> MaskedTokens:
    """The guesses at the first places of a text that were chosen.

    Args:
        logits: (T, V).
        tokens: what the model read (T,).
        targets: what belongs there (T,); IGNORED where nothing was chosen.
        name_of: token, also a mask -> its text.
    """
    check_shape("logits", logits, "T", "V")
    check_shape("tokens", tokens, len(logits))
    check_shape("targets", targets, len(logits))
    chosen = (targets != IGNORED).nonzero().flatten()[:MOST_PLACES]
    check_not_empty("places that were chosen", chosen)
    names = [name_of(token).translate(VISIBLE) for token in tokens.tolist()]
    guesses = guess_tokens(logits[chosen], targets[chosen], name_of)
    return MaskedTokens(
        places=tuple(
            Covered(
                before=" ".join(names[:place])[-AROUND:],
                stood=f"[{names[place].strip('[]')}]",
                after=" ".join(names[place + 1 :])[:AROUND],
                true=true,
                likeliest=likeliest,
            )
            for place, (true, likeliest) in zip(chosen.tolist(), guesses, strict=True)
        )
    )
