"""Backpropagation through any small model, one operation at a time, forward and then back.

    stepped = step_through(model, x, y)
    print(stepped); stepped.save("steps.html")

A copy of the model in float64 runs forward, and everything that it computes is written on a tape;
then the tape is gone back over. The model itself is not touched.
"""

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.errors import ConfigError
from netwright.core.outputs import logits_of
from netwright.core.seeding import seeded
from netwright.core.storage import write_text
from netwright.core.trees import map_tensors
from netwright.inspection.stepper.graph_pictures import draw_graph, figure_size
from netwright.inspection.stepper.numeric_check import TOLERANCE
from netwright.inspection.stepper.reverse_sweep import Handed, Sweep, sweep_back
from netwright.inspection.stepper.step_graph import Links, graph_of
from netwright.inspection.stepper.step_page import steps_page
from netwright.inspection.stepper.step_text import steps_text
from netwright.inspection.stepper.stepped import Contribution, Numbers, Step
from netwright.inspection.stepper.tape import Node, record
from netwright.inspection.stepper.unrolled_modules import unroll_in_time
from netwright.inspection.view import View
from netwright.inspection.wording import number

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
        wrong = [f"#{place} {self.steps[place].name}" for place in self.flagged]
        verdict = (
            f"WRONG is the derivative of {', '.join(wrong)}"
            if wrong
            else "every operation's derivative agrees with a measured one"
        )
        against = (
            "equal autograd's"
            if self.disagreement <= TOLERANCE
            else f"DIFFER from autograd's by {self.disagreement:.0e}"
        )
        return (
            f"{operations} operations lead to the loss of {number(self.loss)}; {verdict}; "
            f"{self._measured_gradients()}; those of parameters and inputs {against}. Blue: "
            "values, going forward. Orange: derivatives of the loss, going back."
        )

    def _measured_gradients(self) -> str:
        """How many gradients were held against the loss with their value moved."""
        verdicts = Counter(step.check.verdict for step in self.steps if step.check is not None)
        kinks = f", {verdicts['kink']} lie at a kink" if verdicts["kink"] else ""
        return (
            f"of {verdicts.total()} gradients that were measured {verdicts['ok']} agree{kinks}, "
            f"{verdicts['off']} {'is' if verdicts['off'] == 1 else 'are'} off"
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
    x, y = map_tensors(_in_float64, (x, y))
    measured = _bound(loss, y)
    with _exactly(), seeded(0):
        twin = _double_copy(model)
        names = {id(parameter): name for name, parameter in twin.named_parameters()}
        twin, clock = unroll_in_time(twin)
        nodes = record(twin, names, x, measured, clock)
        sweep = sweep_back(nodes)
        expected = _by_autograd(_double_copy(model), x, measured)
    return StepThrough(
        steps=tuple(_steps(nodes, sweep)), disagreement=_disagreement(nodes, sweep, expected)
    )


@contextmanager
def _exactly() -> Iterator[None]:
    """New tensors are float64 within it, also those that a model makes itself."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _in_float64(tensor: Tensor) -> Tensor:
    tensor = tensor.detach().cpu()
    if tensor.is_complex():
        return tensor.to(torch.complex128)
    return tensor.double() if tensor.is_floating_point() else tensor


def _double_copy(model: nn.Module) -> nn.Module:
    """On the CPU, in float64 and at rest; everything learns."""
    twin = copy.deepcopy(model).eval()
    for part in twin.modules():
        part._apply(_in_float64, recurse=False)  # type: ignore[no-untyped-call]
    return twin.requires_grad_()


def _bound(loss: Callable[..., Tensor] | None, y: Any) -> Callable[[Any], Tensor]:
    """The loss as a function of the output alone."""
    if loss is not None:
        return loss if y is None else lambda output: loss(output, y)
    if y is None:
        return logits_of
    if not isinstance(y, Tensor):
        raise ConfigError(f"y must be a tensor where no loss is given, got {type(y).__name__}")
    error = functional.mse_loss if y.is_floating_point() else functional.cross_entropy
    return lambda output: error(logits_of(output), y)


def _by_autograd(model: nn.Module, x: Tensor, loss: Callable[[Any], Tensor]) -> dict[str, Tensor]:
    """The gradients as torch has them, of real inputs under "x"; zero where the loss asks not."""
    leaves: dict[str, Tensor] = dict(model.named_parameters())
    if x.is_floating_point():
        leaves["x"] = x = x.clone().requires_grad_()
    with torch.enable_grad():
        grads = torch.autograd.grad(
            loss(model(x)), list(leaves.values()), allow_unused=True, materialize_grads=True
        )
    return dict(zip(leaves, grads, strict=True))


def _disagreement(nodes: tuple[Node, ...], sweep: Sweep, expected: dict[str, Tensor]) -> float:
    """The largest difference of the gradients of what was given, beside their size."""
    found = {
        node.name: gradient
        for node, gradient in zip(nodes, sweep.gradients, strict=True)
        if node.kind != "operation"
    }
    largest = 0.0
    for name, gradient in expected.items():
        apart = (found.get(name, torch.zeros_like(gradient)) - gradient).norm()
        if apart > 0:
            largest = max(largest, float(apart / max(gradient.norm(), apart)))
    return largest


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
