"""What a language model expects next at each place of a text: the likeliest tokens, and the true.

Shapes: T places, V tokens of the vocabulary.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor

from netwright.core.checks import check_shape
from netwright.data.spec import IGNORED
from netwright.inspection.drawing.figure_style import COLOURS, INK
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import percent, short_name
from netwright.metrics.samples import check_not_empty

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PLACES = 24
TOP = 5
LETTERS = 12  # of a token that is shown
VISIBLE = str.maketrans({" ": "␣", "\n": "⏎", "\t": "⇥"})


@dataclass(frozen=True, kw_only=True)
class Expected:
    """One token that may come next, and its probability."""

    token: str
    probability: float
    is_true: bool


@dataclass(frozen=True, kw_only=True)
class Place:
    """One place of the text.

    Args:
        read: the token that was read last.
        true: the token that comes next, with its probability.
        likeliest: the tokens that were expected most, the first most of all.
    """

    read: str
    true: Expected
    likeliest: tuple[Expected, ...]


@dataclass(frozen=True, kw_only=True)
class NextTokens(View):
    """A row a place: what was read, what was expected, and what came.

    Args:
        places: of the text, in order.
    """

    title: ClassVar[str] = "Next tokens"

    places: tuple[Place, ...]

    @property
    def size(self) -> tuple[float, float]:
        """A line a place."""
        return (1.15 * (2 + len(self.places[0].likeliest)) + 0.4, 0.28 * len(self.places) + 0.6)

    @property
    def caption(self) -> str:
        """How often the first guess is right, and how often the truth is among those shown."""
        count, shown = len(self.places), len(self.places[0].likeliest)
        first = sum(place.likeliest[0].is_true for place in self.places) / count
        among = sum(any(one.is_true for one in place.likeliest) for place in self.places) / count
        return (
            f"Each line: the token read last, the {shown} most likely next tokens with their "
            f"probabilities (the darker, the likelier), and the true next token, framed where it "
            f"is among them. The first guess is right at "
            f"{percent(first)} of the {count} places, the true token among the {shown} at "
            f"{percent(among)}."
        )

    def draw(self, figure: "Figure") -> None:
        """A table whose cells are coloured by probability."""
        axes, columns = figure.subplots(), len(self.places[0].likeliest)
        axes.set(xlim=(-1, columns + 1), ylim=(len(self.places), -1))
        axes.axis("off")
        heads = ("read", *(f"{rank + 1}." for rank in range(columns)), "came")
        for column, head in enumerate(heads):
            axes.text(column - 0.5, -0.5, head, ha="center", va="center", weight="bold")
        for line, place in enumerate(self.places):
            axes.text(-0.5, line + 0.5, place.read, ha="center", va="center")
            for column, one in enumerate(place.likeliest):
                draw_cell(axes, column, line, one, is_framed=one.is_true)
            draw_cell(axes, columns, line, place.true, is_framed=False)


def draw_cell(axes: "Axes", column: int, line: int, one: Expected, *, is_framed: bool) -> None:
    """One token in its cell, the darker the likelier."""
    from matplotlib.colors import to_rgba  # noqa: PLC0415 - matplotlib costs a second
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    cell = Rectangle((column + 0.03, line + 0.06), 0.94, 0.88)
    cell.set_facecolor(to_rgba(COLOURS[0], alpha=0.85 * one.probability))
    if is_framed:
        cell.set(edgecolor=COLOURS[1], linewidth=1.8)
    axes.add_patch(cell)
    colour = "white" if one.probability > 0.7 else INK
    text = f"{one.token}  {percent(one.probability, 0)}"
    axes.text(column + 0.5, line + 0.5, text, ha="center", va="center", size=8, color=colour)


def measure_next_tokens(
    logits: Tensor, tokens: Tensor, targets: Tensor, name_of: Callable[[int], str], top: int = TOP
) -> NextTokens:
    """The likeliest next tokens at the first places of a text.

    Args:
        logits: of the next token at each place (T, V).
        tokens: what was read at each place (T,).
        targets: what comes next (T,); places where that is IGNORED are left out.
        name_of: token -> its text.
        top: how many of the likeliest are shown.
    """
    check_shape("logits", logits, "T", "V")
    check_shape("tokens", tokens, len(logits))
    check_shape("targets", targets, len(logits))
    counted = (targets != IGNORED).nonzero().flatten()[:MOST_PLACES]
    check_not_empty("targets that count", counted)
    guesses = guess_tokens(logits[counted], targets[counted], name_of, top)
    read = [_shown(name_of(token)) for token in tokens[counted].tolist()]
    return NextTokens(
        places=tuple(
            Place(read=one, true=true, likeliest=likeliest)
            for one, (true, likeliest) in zip(read, guesses, strict=True)
        )
    )


def guess_tokens(
    logits: Tensor, targets: Tensor, name_of: Callable[[int], str], top: int = TOP
) -> list[tuple[Expected, tuple[Expected, ...]]]:
    """The true token of each place, and the likeliest ones.

    Args:
        logits: (T, V).
        targets: the true tokens (T,).
        name_of: token -> its text.
        top: how many of the likeliest are given.
    """
    probabilities = logits.detach().cpu().double().softmax(dim=1)
    best = probabilities.topk(min(top, probabilities.shape[1]), dim=1).indices.tolist()

    def expected(place: int, token: int, true: int) -> Expected:
        return Expected(
            token=_shown(name_of(token)),
            probability=float(probabilities[place, token]),
            is_true=token == true,
        )

    return [
        (expected(place, true, true), tuple(expected(place, token, true) for token in best[place]))
        for place, true in enumerate(targets.tolist())
    ]


def _shown(text: str) -> str:
    return short_name(text.translate(VISIBLE), LETTERS)
