"""Answers marked in their contexts: the span that was said, and the one that is true.

Shapes: N questions, T tokens of a question and its context.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar

from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import COLOURS, INK
from netwright.inspection.drawing.text_cells import LETTER, LINE, MONO, Cell, lay_out
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import percent, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_QUESTIONS = 6
AROUND = 14  # tokens that are shown on either side of a span
LINE_LETTERS = 96
QUESTION_LETTERS = 110
SKIPPED = "…"
Span = tuple[int, int]  # first and last place


@dataclass(frozen=True, kw_only=True)
class Word:
    """One token of a context.

    Args:
        text: of it.
        is_said: it belongs to the answer that was said.
        is_true: it belongs to the true answer.
    """

    text: str
    is_said: bool = False
    is_true: bool = False


@dataclass(frozen=True, kw_only=True)
class MarkedContext:
    """One question, and what of its context is near an answer.

    Args:
        question: in words.
        words: near the spans; "…" where some are left out.
        has_answer: whether the true answer is in what the model read.
    """

    question: str
    words: tuple[Word, ...]
    has_answer: bool

    @property
    def is_right(self) -> bool:
        """Whether both spans are the same."""
        return self.has_answer and all(word.is_said == word.is_true for word in self.words)


@dataclass(frozen=True, kw_only=True)
class MarkedSpans(View):
    """A few questions with their contexts.

    Args:
        contexts: in the order of the data.
    """

    title: ClassVar[str] = "Answers in their contexts"

    contexts: tuple[MarkedContext, ...]

    @property
    def size(self) -> tuple[float, float]:
        """As many lines as the contexts take."""
        return (LETTER * LINE_LETTERS + 0.6, LINE * sum(self._heights) + 0.3)

    @property
    def caption(self) -> str:
        """How to read it, and how many are right."""
        count = len(self.contexts)
        right = sum(context.is_right for context in self.contexts)
        lost = sum(not context.has_answer for context in self.contexts)
        cut = f" Of {lost} the answer is in no part of the context that fits." if lost else ""
        return (
            "Each question with its context near the answers: coloured what the model said, "
            f"framed what is true. {right} of these {count} are right from the first token to the "
            f"last ({percent(right / count)}).{cut}"
        )

    def draw(self, figure: "Figure") -> None:
        """Question, then context, one below the other."""
        axes = figure.subplots()
        tops = accumulate(self._heights, initial=0)
        for context, top in zip(self.contexts, tops, strict=False):
            question = short_name(context.question, QUESTION_LETTERS)
            axes.text(0, top + 0.5, question, va="center_baseline", weight="bold", size=9)
            _draw_words(axes, context.words, top + 1)
        axes.set(xlim=(-0.5, LINE_LETTERS + 1), ylim=(sum(self._heights), 0))
        axes.set_axis_off()

    @property
    def _heights(self) -> list[float]:
        """The lines of each question, its own and a half empty one among them."""
        return [2.5 + _cells(context.words)[-1].line for context in self.contexts]


def _cells(words: Sequence[Word]) -> list[Cell]:
    return lay_out([word.text for word in words], LINE_LETTERS)


def _draw_words(axes: "Axes", words: Sequence[Word], top: float) -> None:
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - matplotlib costs a second

    for word, (line, first, width) in zip(words, _cells(words), strict=True):
        if word.is_said or word.is_true:
            cell = Rectangle((first - 0.25, top + line + 0.08), width - 0.5, 0.84)
            cell.set_facecolor(COLOURS[0] if word.is_said else "none")
            cell.set(edgecolor=COLOURS[1] if word.is_true else "none", linewidth=1.6)
            axes.add_patch(cell)
        axes.text(
            first + (width - 1) / 2,
            top + line + 0.5,
            word.text,
            ha="center",
            va="center_baseline",
            family=MONO,
            color="white" if word.is_said else INK,
        )


def measure_marked_spans(
    questions: Sequence[str],
    contexts: Sequence[Sequence[str]],
    said: Sequence[Span],
    true: Sequence[Span | None],
) -> MarkedSpans:
    """The first questions, with the tokens of their contexts that are near a span.

    Args:
        questions: in words, N.
        contexts: the tokens of each, N.
        said: first and last place in the context, N.
        true: the same; None where the answer was cut off, N.
    """
    if not questions:
        raise DataError("there are no questions to show")
    rows = zip(questions, contexts, said, true, strict=True)
    return MarkedSpans(
        contexts=tuple(
            MarkedContext(
                question=question,
                words=_near(context, one, other),
                has_answer=other is not None,
            )
            for question, context, one, other in list(rows)[:MOST_QUESTIONS]
        )
    )


def _near(context: Sequence[str], said: Span, true: Span | None) -> tuple[Word, ...]:
    """The tokens around both spans."""
    spans = [said] if true is None else [said, true]
    shown = {
        place
        for first, last in spans
        for place in range(max(0, first - AROUND), min(len(context), last + AROUND + 1))
    }
    words: list[Word] = []
    for place, text in enumerate(context):
        if place in shown:
            is_said, is_true = (
                span is not None and span[0] <= place <= span[1] for span in (said, true)
            )
            words.append(Word(text=short_name(text, 24), is_said=is_said, is_true=is_true))
        elif not words or words[-1].text != SKIPPED:
            words.append(Word(text=SKIPPED))
    return tuple(words)
