"""The examples worth a look: the surest mistakes, and the right answers that were nearly wrong.

Confident mistakes are often wrong labels or broken inputs; answers that are barely right show where
the model hesitates.

Shapes: N examples, C classes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from torch import Tensor

from netwright.core.checks import check_positive
from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import COLOURS, FAINT, SMALL
from netwright.inspection.drawing.pictures import (
    COLUMNS,
    ROW_HEIGHT,
    Pixels,
    as_images,
    draw_pictures,
    num_rows,
    pixels_of,
)
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import (
    check_names,
    check_several_classes,
    percent,
    short_name,
    shown_of,
)
from netwright.inspection.predictions.decided import Decided, decide, threshold_words
from netwright.metrics.probability import smallest_probability
from netwright.metrics.samples import check_class_samples, check_probabilities

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Kind = Literal["confident mistake", "barely right"]

WIDTH, HEADING, BAR = 7.8, 0.45, 0.3  # inches: the figure, a heading, the bars of one example
SHORT, MIDDLING = 9, 13  # letters of a name below a picture, and beside a bar


@dataclass(frozen=True, kw_only=True)
class Example:
    """One example and what the model said of it.

    Args:
        kind: why it is shown.
        row: its place in the split, from 0; not a line of the file that the split is from.
        true_name: its class.
        predicted_name: the likeliest class, or the one that the threshold decides for.
        runner_up_name: the likeliest of the others.
        p_true: the probability given to its class.
        p_predicted: to the predicted class.
        p_runner_up: to the next class.
        loss: -log p_true, in nats.
        pixels: of an image; None where the input is none.
    """

    kind: Kind
    row: int
    true_name: str
    predicted_name: str
    runner_up_name: str
    p_true: float
    p_predicted: float
    p_runner_up: float
    loss: float
    pixels: Pixels | None


@dataclass(frozen=True, kw_only=True)
class WrongExamples(View):
    """The surest mistakes and the barest successes.

    Args:
        mistakes: the surest first.
        barely_right: the one with the smallest lead over the runner-up first.
        num_wrong: how many mistakes there are.
        num_examples: how many examples there are.
        is_sample: whether they are a sample of the split.
        threshold_note: what decides between two classes, where it is not the larger probability.
    """

    title: ClassVar[str] = "Wrong and nearly wrong"

    mistakes: tuple[Example, ...]
    barely_right: tuple[Example, ...]
    num_wrong: int
    num_examples: int
    is_sample: bool = False
    threshold_note: str = ""

    @property
    def size(self) -> tuple[float, float]:
        """As high as there are examples."""
        return (WIDTH, sum(_height(examples) for _, examples in self._lists))

    @property
    def caption(self) -> str:
        """How many are wrong, and which of them are shown."""
        share = percent(self.num_wrong / self.num_examples)
        sample = ", a sample of the split" if self.is_sample else ""
        mistakes = (
            " Confident mistakes: the predicted class is wrong; the most confident comes first."
        )
        by = "distance from the threshold" if self.threshold_note else "lead over the runner-up"
        right = f" Barely right: the smallest {by} comes first."
        return (
            f"Wrong: {self.num_wrong:,} of {self.num_examples:,} examples ({share}){sample}."
            f"{mistakes if self.mistakes else ''}{right if self.barely_right else ''}"
            f"{self.threshold_note} Rows are counted from 0 within the split."
        )

    def draw(self, figure: "Figure") -> None:
        """Pictures of images, bars of probabilities for anything else."""
        heights = [_height(examples) for _, examples in self._lists]
        panels = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, (heading, examples) in zip(panels, self._lists, strict=True):
            pictures = [(one.pixels, _words(one)) for one in examples if one.pixels is not None]
            if pictures:
                draw_pictures(axes, pictures)
            else:
                _draw_bars(axes, examples)
            axes.set_title(heading)

    def table_rows(self) -> list[dict[str, str]]:
        """The same examples as rows of a table."""
        return [
            {
                "kind": one.kind,
                "row": str(one.row),
                "true": short_name(one.true_name, 60),
                "predicted": short_name(one.predicted_name, 60),
                "runner-up": short_name(one.runner_up_name, 60),
                "p(true)": percent(one.p_true),
                "p(predicted)": percent(one.p_predicted),
                "p(runner-up)": percent(one.p_runner_up),
                "loss": f"{one.loss:.3f}",
            }
            for one in (*self.mistakes, *self.barely_right)
        ]

    @property
    def _lists(self) -> list[tuple[str, tuple[Example, ...]]]:
        """What is shown, under its heading."""
        num_right = self.num_examples - self.num_wrong
        lists = [
            (f"Confident mistakes: {shown_of(len(self.mistakes), self.num_wrong)}", self.mistakes),
            (f"Barely right: {shown_of(len(self.barely_right), num_right)}", self.barely_right),
        ]
        return [(heading, examples) for heading, examples in lists if examples]


def measure_wrong_examples(
    inputs: Tensor,
    targets: Tensor,
    probabilities: Tensor,
    class_names: Sequence[str],
    count: int = 12,
    image_shape: tuple[int, ...] | None = None,
    rows: Tensor | None = None,
    threshold: float | None = None,
) -> WrongExamples:
    """Find the surest mistakes and the barest successes.

    Args:
        inputs: (N, *shape); images (N, channels, I, J) are shown.
        targets: the true classes, int64 (N,).
        probabilities: (N, C), of two classes or more.
        class_names: C names.
        count: how many of each kind, at most.
        image_shape: (I, J) or (channels, I, J) of images that come as features.
        rows: the places in the split (N,) where the examples are a sample of it.
        threshold: of two classes, the probability above which the second is predicted.
    """
    check_positive("count", count)
    check_class_samples("probabilities", probabilities, targets, None)
    check_probabilities(probabilities)
    check_names("class_names", class_names, probabilities.shape[1])
    check_several_classes(class_names)
    if len(inputs) != len(targets):
        raise DataError(f"inputs must be as many as targets, {len(targets)}, got {len(inputs)}")
    targets, probabilities = targets.cpu(), probabilities.detach().cpu()
    images = as_images(inputs, image_shape)
    decided = decide(probabilities, threshold)
    mistakes, barely_right, num_wrong = _choose(targets, decided, count)

    def example(kind: Kind, place: int) -> Example:
        pixels = None if images is None else pixels_of(images[place])
        answer = (int(targets[place]), int(decided.classes[place]), probabilities[place])
        row = place if rows is None else int(rows[place])
        return _example(kind, row, *answer, class_names, pixels)

    return WrongExamples(
        mistakes=tuple(example("confident mistake", place) for place in mistakes),
        barely_right=tuple(example("barely right", place) for place in barely_right),
        num_wrong=num_wrong,
        num_examples=len(targets),
        is_sample=rows is not None,
        threshold_note=threshold_words(threshold, short_name(class_names[1])),
    )


def _choose(targets: Tensor, decided: Decided, count: int) -> tuple[list[int], list[int], int]:
    """The places of the surest mistakes and of the barest successes, and the number of mistakes."""
    is_wrong = decided.classes != targets
    wrong, right = is_wrong.nonzero()[:, 0], (~is_wrong).nonzero()[:, 0]
    surest = decided.surety[wrong].argsort(descending=True, stable=True)[:count]
    barest = decided.lead[right].argsort(stable=True)[:count]
    return wrong[surest].tolist(), right[barest].tolist(), len(wrong)


def _example(
    kind: Kind,
    row: int,
    true: int,
    predicted: int,
    chances: Tensor,
    class_names: Sequence[str],
    pixels: Pixels | None,
) -> Example:
    others = chances.clone()
    others[predicted] = -1
    runner_up = int(others.argmax())
    return Example(
        kind=kind,
        row=row,
        true_name=class_names[true],
        predicted_name=class_names[predicted],
        runner_up_name=class_names[runner_up],
        p_true=float(chances[true]),
        p_predicted=float(chances[predicted]),
        p_runner_up=float(chances[runner_up]),
        loss=-math.log(max(float(chances[true]), smallest_probability(chances))),
        pixels=pixels,
    )


def _height(examples: tuple[Example, ...]) -> float:
    if examples[0].pixels is None:
        return HEADING + 0.4 + BAR * len(examples)
    return HEADING + WIDTH / COLUMNS * ROW_HEIGHT * num_rows(len(examples))


def _words(example: Example) -> str:
    """What stands below the picture."""
    true = short_name(example.true_name, SHORT)
    if example.kind == "confident mistake":
        said, chance = example.predicted_name, percent(example.p_predicted, 0)
        answer = f"true {true}\nsaid {short_name(said, SHORT)} ({chance})"
    else:
        nearly, chance = example.runner_up_name, percent(example.p_runner_up, 0)
        answer = f"{true} ({percent(example.p_true, 0)})\nor {short_name(nearly, SHORT)} ({chance})"
    return f"{answer}\nrow {example.row}"


def _draw_bars(axes: "Axes", examples: tuple[Example, ...]) -> None:
    """Two bars an example: its class, and the class that won or nearly did."""
    if examples[0].kind == "confident mistake":
        legend, colour = "predicted class", COLOURS[1]
        rivals = [one.p_predicted for one in examples]
        words = [f"said {short_name(one.predicted_name, MIDDLING)}" for one in examples]
    else:
        legend, colour = "runner-up", FAINT
        rivals = [one.p_runner_up for one in examples]
        words = [f"or {short_name(one.runner_up_name, MIDDLING)}" for one in examples]
    places = range(len(examples))
    above, below = [place - 0.18 for place in places], [place + 0.18 for place in places]
    true = [one.p_true for one in examples]
    axes.barh(above, true, height=0.36, color=COLOURS[0], label="true class")
    axes.barh(below, rivals, height=0.36, color=colour, label=legend)
    names = [f"row {one.row}: {short_name(one.true_name, MIDDLING)}" for one in examples]
    axes.set_yticks(places, [", ".join(pair) for pair in zip(names, words, strict=True)])
    axes.tick_params(axis="y", labelsize=SMALL)
    axes.set(xlim=(0, 1), ylim=(len(examples) - 0.4, -0.6), xlabel="probability")
    axes.grid(visible=False, axis="y")
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=2,
        borderaxespad=0,
        fontsize=SMALL,
        handlelength=1.0,
        columnspacing=1.0,
    )
