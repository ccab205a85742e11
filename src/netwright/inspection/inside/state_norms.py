"""How a recurrence remembers: its state over time, and how far a change of the state is carried.

    J_t = d s_t / d s_{t-1},      d s_T / d s_t = J_T J_{T-1} ... J_{t+1}

Where the singular values of the product go to zero with the distance T - t, the last state has
forgotten, and gradients vanish; where they grow, gradients explode.

Shapes: T steps, D inputs, S numbers of the state (all its tensors, a complex number as two).
Source: Bengio, Simard and Frasconi, "Learning Long-Term Dependencies with Gradient Descent Is
Difficult" (1994); Pascanu, Mikolov and Bengio, "On the Difficulty of Training Recurrent Neural
Networks" (2013).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor

from netwright.core.checks import check_finite, check_shape
from netwright.core.trees import map_tensors, tensors_of
from netwright.inspection.drawing.figure_style import COLOURS, FAINT, SMALL, log_scale
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number
from netwright.metrics.samples import check_not_empty

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_STEPS = 200  # that are measured: each costs a matrix (S, S)
MOST_SPECTRA = 32  # of these whose singular values are taken, which costs most
LOWEST = 1e-16  # of what is drawn: less is nothing beside 1

Step = Callable[[Tensor, Any], tuple[Tensor, Any]]


@dataclass(frozen=True, kw_only=True)
class Spectra:
    """The largest and the median singular value of a matrix a step."""

    largest: tuple[float, ...]
    median: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class StateNorms(View):
    """The state, one step's Jacobian and the product of all later ones, over time.

    Args:
        norms: of s_1 ... s_T.
        places: the steps t from 0 on whose spectra are shown: all, or some spread evenly.
        steps: of J_{t+1} for these.
        to_the_end: of d s_T / d s_t for these.
        numbers: of the state, S.
    """

    title: ClassVar[str] = "State and Jacobians over time"

    norms: tuple[float, ...]
    places: tuple[int, ...]
    steps: Spectra
    to_the_end: Spectra
    numbers: int

    @property
    def size(self) -> tuple[float, float]:
        """Three panels above each other."""
        return (6.4, 6.8)

    @property
    def rate(self) -> float:
        """What a step multiplies a change of the first state by, at most: the geometric mean."""
        return math.pow(self.to_the_end.largest[0], 1 / len(self.norms))

    @property
    def caption(self) -> str:
        """How much of a change of the first state arrives at the end."""
        return (
            f"After {len(self.norms)} steps, a small change of the first state has changed the "
            f"last one by at most {number(self.to_the_end.largest[0])} times as much, "
            f"{number(self.rate)} a step: below 1 it fades, above 1 it grows. Top: the length of "
            f"the state ({self.numbers} numbers). Middle: what one step does to a change, "
            "d s_t / d s_t-1. Bottom: what all steps from t to the end do, d s_T / d s_t, on a "
            "logarithmic axis. A line that falls to the left is memory that fades, and a gradient "
            "that vanishes; one that rises explodes."
        )

    def draw(self, figure: "Figure") -> None:
        """The norm above, the two spectra below it, on one axis of time."""
        top, middle, bottom = figure.subplots(3, 1, sharex=True)
        top.plot(range(1, len(self.norms) + 1), self.norms, color=COLOURS[2])
        top.set(ylabel="length", title="the state")
        top.set_ylim(bottom=0)
        _draw_spectra(middle, [place + 1 for place in self.places], self.steps)
        middle.set_title("singular values of one step")
        middle.legend(fontsize=SMALL, ncols=2)
        middle.set_ylim(bottom=0)
        _draw_spectra(bottom, self.places, self.to_the_end)
        log_scale(bottom, "y")
        shown = [value for value in (*self.to_the_end.largest, 1.0) if value > LOWEST]
        bottom.set_ylim(min(shown) / 2, max(shown) * 2)
        bottom.set(title="singular values of all steps to the end", xlabel="step t")


def _draw_spectra(axes: "Axes", places: Sequence[int], spectra: Spectra) -> None:
    axes.axhline(1.0, color=FAINT, linestyle="--", linewidth=1.2)
    axes.plot(places, spectra.largest, color=COLOURS[0], label="largest")
    axes.plot(places, spectra.median, color=COLOURS[1], label="median")


def measure_state_norms(step: Step, inputs: Tensor, start: Any) -> StateNorms:
    """Run a recurrence over one sequence and take the Jacobian of every step.

    Args:
        step: inputs (B, D) and a state -> outputs and the next state; rows do not see each other,
            and chance (dropout) is switched off.
        inputs: one sequence (T, D), of which the last steps are taken where it is long.
        start: the state before the first step, a tree of tensors (1, ...).
    """
    check_shape("inputs", inputs, "T", "D")
    check_not_empty("inputs", inputs)
    state, norms, jacobians = start, [], []
    for x in inputs[-MOST_STEPS:].detach():
        jacobian, state = _jacobian(step, x, state)
        check_finite("the Jacobian of a step", jacobian)
        jacobians.append(jacobian.double().cpu())
        norms.append(float(_flat(state).norm()))
    product, products = torch.eye(len(jacobians[0]), dtype=torch.float64), []
    for jacobian in reversed(jacobians):
        product = product @ jacobian
        products.append(product)
    products.reverse()
    count = min(len(norms), MOST_SPECTRA)
    places = torch.linspace(0, len(norms) - 1, count).round().long().tolist()
    return StateNorms(
        norms=tuple(norms),
        places=tuple(places),
        steps=_spectra([jacobians[place] for place in places]),
        to_the_end=_spectra([products[place] for place in places]),
        numbers=len(product),
    )


def _jacobian(step: Step, x: Tensor, state: Any) -> tuple[Tensor, Any]:
    """The Jacobian d s_t / d s_{t-1} (S, S), and s_t.

    The state is repeated S times in the batch: number i of row i has row i of the Jacobian for its
    gradient, and one backward pass gives them all.
    """
    flat = _flat(state).detach()
    copies = flat.repeat(flat.shape[1], 1).requires_grad_()  # (S, S)
    with torch.enable_grad():
        _, new = step(x.expand(len(copies), -1), _shaped(copies, state))
        following = _flat(new)
    (jacobian,) = torch.autograd.grad(following.diagonal().sum(), copies)
    return jacobian, map_tensors(lambda tensor: tensor[:1].detach(), new)


def _flat(state: Any) -> Tensor:
    """All numbers of a state side by side, (B, S)."""
    parts = [torch.view_as_real(one) if one.is_complex() else one for one in tensors_of(state)]
    return torch.cat([part.flatten(1) for part in parts], dim=1)


def _shaped(flat: Tensor, state: Any) -> Any:
    """Numbers (B, S) as a state of this form."""
    sizes = [one.numel() // len(one) * (2 if one.is_complex() else 1) for one in tensors_of(state)]
    parts = iter(torch.split(flat, sizes, dim=1))

    def shaped(like: Tensor) -> Tensor:
        part, shape = next(parts), (len(flat), *like.shape[1:])
        if like.is_complex():
            return torch.view_as_complex(part.reshape(*shape, 2))
        return part.reshape(shape)

    return map_tensors(shaped, state)


def _spectra(matrices: list[Tensor]) -> Spectra:
    values = torch.linalg.svdvals(torch.stack(matrices))  # (T, S), from large to small
    return Spectra(
        largest=tuple(values[:, 0].tolist()), median=tuple(values.median(dim=1).values.tolist())
    )
