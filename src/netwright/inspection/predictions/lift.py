"""Lift: how many more positives the most probable rows hold than as many by chance.

    gain(q) = positives among the first q N rows / all positives,    lift(q) = gain(q) / q

with the rows ordered by the probability of the second class, the highest first. Rows of equal
probability are in no order: there the curve is straight, as for rows drawn from them by chance.

Shapes: N examples, P points.
Source: Provost and Fawcett, "Data Science for Business" (2013), chapter 8.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import COLOURS, FAINT
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import percent, short_name
from netwright.metrics.samples import check_class_samples, check_probabilities

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARES = tuple(place / 100 for place in range(1, 101))
TOLD = (0.05, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True, kw_only=True)
class Lift(View):
    """Gain and lift by the share of the rows that is looked at.

    Args:
        name: of the second class.
        base_rate: its share of the examples.
        shares: of the rows, from the highest probability down (P,).
        gains: the share of the positives among them (P,).
    """

    title: ClassVar[str] = "Lift"

    name: str
    base_rate: float
    shares: tuple[float, ...]
    gains: tuple[float, ...]

    @property
    def size(self) -> tuple[float, float]:
        """Two squares."""
        return (9.0, 4.0)

    @property
    def lifts(self) -> tuple[float, ...]:
        """Gain over share (P,)."""
        return tuple(gain / share for gain, share in zip(self.gains, self.shares, strict=True))

    @property
    def caption(self) -> str:
        """What the first tenth holds."""
        place = self.shares.index(0.1)
        return (
            f"Rows are ordered by the probability of {short_name(self.name)}, the highest first. "
            f"Left: the share of its {percent(self.base_rate)} that the first rows hold; rows in "
            f"any order lie on the dashed line, a perfect order on the dotted one. Right: how many "
            f"times as many as in any order. The first 10 % of the rows hold "
            f"{percent(self.gains[place])} of {short_name(self.name)}, "
            f"{self.lifts[place]:.2f} times as many."
        )

    def table_rows(self) -> list[dict[str, str]]:
        """A row for some shares."""
        found = dict(zip(self.shares, zip(self.gains, self.lifts, strict=True), strict=True))
        return [
            {
                "first rows": percent(share, 0),
                "found": percent(found[share][0]),
                "lift": f"{found[share][1]:.2f}",
            }
            for share in TOLD
        ]

    def draw(self, figure: "Figure") -> None:
        """The gain on the left, the lift on the right."""
        gain, lift = figure.subplots(1, 2)
        gain.plot((0, 1), (0, 1), color=FAINT, linestyle="--", linewidth=1.2)
        gain.plot((0, self.base_rate, 1), (0, 1, 1), color=FAINT, linestyle=":", linewidth=1.2)
        gain.plot((0, *self.shares), (0, *self.gains), color=COLOURS[0])
        gain.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="share of the rows")
        gain.set_ylabel("share of the positives found")
        lift.axhline(1, color=FAINT, linestyle="--", linewidth=1.2)
        lift.plot(self.shares, self.lifts, color=COLOURS[0])
        lift.set(xlim=(0, 1), xlabel="share of the rows", ylabel="lift")
        lift.set_ylim(bottom=0)


def measure_lift(
    targets: Tensor, probabilities: Tensor, name: str, weights: Tensor | None = None
) -> Lift:
    """The gain at each per cent of the rows.

    Args:
        targets: the true classes, 0 or 1 (N,).
        probabilities: (N, 2).
        name: of the second class.
        weights: how much each example counts, (N,).
    """
    check_class_samples("probabilities", probabilities, targets, weights)
    check_probabilities(probabilities)
    amounts = torch.ones(len(targets)) if weights is None else weights.detach().cpu()
    kept = amounts > 0
    amounts, is_one = amounts[kept].double(), targets.cpu()[kept] == 1
    scores = probabilities.detach().cpu().double()[kept, 1]
    if not bool(is_one.any()) or bool(is_one.all()):
        raise DataError("lift needs examples of both classes that count")
    scores, order = scores.sort(descending=True)
    hits = torch.where(is_one[order], amounts[order], 0.0).cumsum(0)
    rows = amounts[order].cumsum(0)
    is_last = torch.cat((scores[1:] != scores[:-1], torch.tensor([True])))  # of equal scores
    seen, found = rows[is_last] / rows[-1], hits[is_last] / hits[-1]
    gains = np.interp(SHARES, np.append(0.0, seen.numpy()), np.append(0.0, found.numpy()))
    return Lift(
        name=name,
        base_rate=float(hits[-1] / rows[-1]),
        shares=SHARES,
        gains=tuple(gains.tolist()),
    )
