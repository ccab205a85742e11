"""Backpropagation through any small model, one operation at a time, forward and then back.

    stepped = step_through(model, x, y)
    print(stepped); stepped.save("steps.html")

A copy of the model in float64 runs forward, and everything that it computes is written on a tape;
then the tape is gone back over. The model itself is not touched.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from torch import Tensor, nn

from netwright.core.files.storage import write_text
from netwright.core.seeding import seeded
from netwright.core.trees import map_tensors
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number
from netwright.inspection.stepper.double_precision import in_float64, widened
from netwright.inspection.stepper.graph_pictures import draw_graph, figure_size
from netwright.inspection.stepper.node import Node
from netwright.inspection.stepper.numeric_check import TOLERANCE, Verdict
from netwright.inspection.stepper.refusals import check_inputs, check_model
from netwright.inspection.stepper.reverse_sweep import Handed, Sweep, sweep_back
from netwright.inspection.stepper.step_graph import Links, graph_of
from netwright.inspection.stepper.step_page import steps_page
from netwright.inspection.stepper.step_text import steps_text
from netwright.inspection.stepper.stepped import Contribution, Numbers, Step, label
from netwright.inspection.stepper.two_runs import by_autograd, disagreement, recorded, twins

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class StepThrough(View):
    """Every value of a computation with its gradient; the last one is the loss.

    Args:
        steps: in the order of the forward pass.
        disagreement: the largest difference between a gradient of inputs or parameters here and
            the one that torch's autograd gives for the model as it is, beside its size.
    """

    title: ClassVar[str] = "Backpropagation step by step"

    steps: tuple[Step, ...]
    disagreement: float

    @property
    def loss(self) -> float:
        """The value that everything is differentiated from."""
        return self.steps[-1].value.entries[0]

    @property
    def flagged(self) -> tuple[int, ...]:
        """The numbers of the operations whose own derivative differs from the measured one."""
        return tuple(
            place
            for place, step in enumerate(self.steps)
            if any(one.check.verdict == "off" for one in step.contributions)
        )

    @property
    def caption(self) -> str:
        """How much there is, and whether the derivatives hold."""
        operations = sum(step.kind == "operation" for step in self.steps)
        against = (
            "equal autograd's"
            if self.disagreement <= TOLERANCE
            else f"DIFFER from autograd's by {self.disagreement:.0e}"
        )
        return (
            f"{operations} {'operation leads' if operations == 1 else 'operations lead'} to the "
            f"loss of {number(self.loss)}; {self._not_finite()}{self._measured_derivatives()}; "
            f"{self._measured_gradients()}; those of parameters and inputs {against}. Blue: "
            "values, going forward. Orange: derivatives of the loss, going back."
        )

    def _not_finite(self) -> str:
        """Where trouble begins: the first value that is infinite or no number.

        One that the loss and the gradients do not feel, as under a mask, is none.
        """
        felt = [self.steps[-1].value, *(step.gradient for step in self.steps)]
        if all(math.isfinite(one.mean) for one in felt):
            return ""
        for place, step in enumerate(self.steps):
            if not math.isfinite(step.value.mean):
                return f"the first value that is NOT FINITE is {label(self.steps, place)}; "
        return "all values are finite, but NOT all gradients; "

    def _measured_derivatives(self) -> str:
        """Whether each operation's own derivative is the measured one."""
        verdicts = Counter(one.check.verdict for step in self.steps for one in step.contributions)
        wrong = [f"#{place} {self.steps[place].name}" for place in self.flagged]
        if wrong:
            return f"WRONG is the derivative of {', '.join(wrong)}"
        if verdicts["ok"] == verdicts.total():
            return "every operation's derivative agrees with a measured one"
        return (
            f"of {verdicts.total()} derivatives of operations {verdicts['ok']} agree with measured "
            f"ones{_not_told(verdicts)}"
        )

    def _measured_gradients(self) -> str:
        """How many gradients were held against the loss with their value moved."""
        verdicts = Counter(step.check.verdict for step in self.steps if step.check is not None)
        measured = verdicts.total() - verdicts["unclear"]
        return (
            f"of {measured} gradients that were measured {verdicts['ok']} agree, {verdicts['off']} "
            f"{'is' if verdicts['off'] == 1 else 'are'} off{_not_told(verdicts)}"
        )

    @property
    def size(self) -> tuple[float, float]:
        """As large as the graph."""
        return figure_size(graph_of(Links(self.steps)))

    def draw(self, figure: "Figure") -> None:
        """The graph from left to right; a large one by modules and steps in time."""
        draw_graph(figure, graph_of(Links(self.steps)))

    def text(self) -> str:
        """The forward pass and the backward pass as two tables."""
        return f"{steps_text(self.steps)}\n\n{self.caption}"

    def __str__(self) -> str:
        return self.text()

    def save(self, path: str | Path) -> Path:
        """Write the graph (.svg, .png), or a page to step through (.html); gives the path."""
        path = Path(path)
        if path.suffix.lower() != ".html":
            return super().save(path)
        write_text(path, steps_page(self.title, self.caption, self.steps).render())
        return path


def _not_told(verdicts: Mapping[Verdict, int]) -> str:
    """How many derivatives lie at a kink or could not be measured, where there are such."""
    kinks, unclear = verdicts["kink"], verdicts["unclear"]
    return (f", {kinks} {'lies' if kinks == 1 else 'lie'} at a kink" if kinks else "") + (
        f", {unclear} could not be measured" if unclear else ""
    )


def step_through(
    model: nn.Module, x: Tensor, y: Any = None, *, loss: Callable[..., Tensor] | None = None
) -> StepThrough:
    """Run a model forward and back, and keep every operation.

    Args:
        model: any module of one tensor; dropout and batch statistics rest, as in evaluation.
        x: one example or a few, as the model takes them: (B, ...).
        y: the targets, of whatever form the loss takes.
        loss: the model's output and y, if there is one, -> one number. By default the
            cross-entropy of whole numbers y, the mean squared error of real ones, and without y the
            output itself.
    """
    check_model(model)
    check_inputs(x)
    x, y = map_tensors(widened, (x, y))
    with in_float64():
        with seeded(0):
            nodes = recorded(*twins(model, loss), x, y)
        sweep = sweep_back(nodes)
        with seeded(0):  # the same chance once more
            expected = by_autograd(*twins(model, loss), x, y)
    return StepThrough(
        steps=tuple(_steps(nodes, sweep)), disagreement=disagreement(nodes, sweep, expected)
    )


def _steps(nodes: tuple[Node, ...], sweep: Sweep) -> Iterator[Step]:
    """The tape and its gradients as plain numbers."""
    by_source: dict[int, list[Handed]] = {}
    for handed in sweep.handed:
        by_source.setdefault(handed.source, []).append(handed)
    for place, node in enumerate(nodes):
        yield Step(
            kind=node.kind,
            name=node.name,
            where=node.where,
            moment=node.moment,
            inputs=node.inputs,
            value=Numbers.of(node.value),
            gradient=Numbers.of(sweep.gradients[place]),
            contributions=tuple(_contribution(one) for one in by_source.get(place, [])),
            check=sweep.checks.get(place),
            constants=tuple((name, Numbers.of(one)) for name, one in node.constants),
            usual=node.usual,
        )


def _contribution(handed: Handed) -> Contribution:
    local = handed.jacobian if handed.slopes is None else handed.slopes
    large: Literal["matrix", "large"] = "large" if local is None else "matrix"
    return Contribution(
        target=handed.target,
        amount=Numbers.of(handed.amount),
        local=None if local is None else Numbers.of(local),
        kind=large if handed.slopes is None else "slopes",
        check=handed.check,
    )
