"""Energy descent: how the energy of a memory falls while it recalls.

Shapes: B states, T times.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor

from netwright.core.checks import check_finite, check_shape
from netwright.inspection.drawing.figure_style import colour_of
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number
from netwright.metrics.samples import check_not_empty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROUNDING = 1e-6  # of the whole drop: a rise below it is no rise


@dataclass(frozen=True, kw_only=True)
class EnergyDescent(View):
    """The energy of some states, from where recall started to where it rests.

    Args:
        times: when it was taken, in sweeps, (T,).
        energies: one row a state, (B, T).
        num_rises: steps at which an energy rose.
    """

    title: ClassVar[str] = "Energy while recalling"

    times: tuple[float, ...]
    energies: tuple[tuple[float, ...], ...]
    num_rises: int

    @property
    def caption(self) -> str:
        """From where to where, and whether it ever rose."""
        start = sum(row[0] for row in self.energies) / len(self.energies)
        end = sum(row[-1] for row in self.energies) / len(self.energies)
        steps = "1 step" if self.num_rises == 1 else f"{self.num_rises:,} steps"
        rises = f"rose at {steps}" if self.num_rises else "never rose"
        return (
            "Each line is a disturbed pattern on its way to rest; in one sweep every unit is "
            f"updated once. The energy went from {number(start)} to {number(end)} in the mean, "
            f"and {rises}."
        )

    def draw(self, figure: "Figure") -> None:
        """One line a state; a dot where it ends."""
        axes = figure.subplots()
        for index, row in enumerate(self.energies):
            axes.plot(self.times, row, color=colour_of(index), alpha=0.85)
            axes.plot(self.times[-1], row[-1], "o", color=colour_of(index), markersize=5)
        axes.set(xlabel="sweeps", ylabel="energy")
        axes.locator_params(axis="x", integer=True)


def measure_energy_descent(times: Sequence[float], energies: Tensor) -> EnergyDescent:
    """Energies along the way of some states.

    Args:
        times: in sweeps, rising, (T,).
        energies: (T, B).
    """
    check_shape("energies", energies, len(times), "B")
    check_not_empty("energies", energies)
    check_finite("energies", energies)
    lines = energies.detach().cpu().double().T
    steps = lines.diff(dim=1)
    drop = float(lines.max() - lines.min())
    return EnergyDescent(
        times=tuple(times),
        energies=tuple(map(tuple, lines.tolist())),
        num_rises=int((steps > ROUNDING * drop).sum()),
    )
