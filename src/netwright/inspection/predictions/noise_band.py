"""The noise band: a fitted line, and the band that holds nineteen of twenty targets.

Shapes: N examples, M of them shown.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor

from netwright.core.checks import check_shape
from netwright.inspection.drawing.figure_style import COLOURS
from netwright.inspection.drawing.shown_rows import dot_size, shown_rows
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number, percent, quoted, short_name, shown_of
from netwright.inspection.predictions.residual_density import WITHIN_TWO

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POINTS = 2_000


@dataclass(frozen=True, kw_only=True)
class NoiseBand(View):
    """Examples, the line, and two standard deviations on each side of it.

    Args:
        feature_name: of the horizontal axis.
        target_name: of the vertical axis.
        points: examples (x, y), (M, 2).
        ends: the two ends of the line, (x, mean) each.
        sigma: the standard deviation of the noise.
        inside: the share of all examples within the band.
        num_examples: how many there are.
    """

    title: ClassVar[str] = "Noise band"

    feature_name: str
    target_name: str
    points: tuple[tuple[float, float], ...]
    ends: tuple[tuple[float, float], tuple[float, float]]
    sigma: float
    inside: float
    num_examples: int

    @property
    def caption(self) -> str:
        """How many examples lie within the band."""
        return (
            f"The line, and two standard deviations of the noise ({number(self.sigma)}) of "
            f"{quoted(self.target_name)} on each side. The band holds {percent(self.inside)} of "
            f"the examples ({shown_of(len(self.points), self.num_examples)} shown); for normal "
            f"noise it would hold {percent(WITHIN_TWO)}. The feature is drawn as the model sees it."
        )

    def draw(self, figure: "Figure") -> None:
        """The band below, dots on it, the line on top."""
        axes = figure.subplots()
        x, mean = zip(*self.ends, strict=True)
        low, high = ([value + side * 2 * self.sigma for value in mean] for side in (-1, 1))
        axes.fill_between(
            x, low, high, color=COLOURS[1], alpha=0.18, linewidth=0, label="± 2 deviations"
        )
        across, up = zip(*self.points, strict=True)
        axes.scatter(
            across,
            up,
            s=dot_size(len(self.points)),
            alpha=0.6,
            color=COLOURS[0],
            linewidths=0,
            label="examples",
            rasterized=True,
        )
        axes.plot(x, mean, color=COLOURS[1], linewidth=2.4, label="line")
        axes.set(xlabel=short_name(self.feature_name, 40), ylabel=short_name(self.target_name, 30))
        axes.legend()


def measure_noise_band(
    x: Tensor, y: Tensor, means: Tensor, sigma: float, names: tuple[str, str]
) -> NoiseBand:
    """Count the examples within the band.

    Args:
        x: the feature, (N,).
        y: the target, (N,).
        means: what the line says of each, (N,).
        sigma: the standard deviation of the noise.
        names: of the feature and the target.
    """
    for name, values in (("y", y), ("means", means)):
        check_shape(name, values, len(x))
    x, y, means = (values.detach().cpu().double() for values in (x, y, means))
    shown = shown_rows(len(x), MOST_POINTS)
    first, last = ((float(x[i]), float(means[i])) for i in (x.argmin(), x.argmax()))
    return NoiseBand(
        feature_name=names[0],
        target_name=names[1],
        points=tuple(zip(x[shown].tolist(), y[shown].tolist(), strict=True)),
        ends=(first, last),
        sigma=sigma,
        inside=float(((y - means).abs() <= 2 * sigma).double().mean()),
        num_examples=len(x),
    )
