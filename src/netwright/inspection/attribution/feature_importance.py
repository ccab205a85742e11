"""Feature importance: how much each feature took part in the splits of trees.

Shapes: D features, I x J pixels.
Source: Breiman et al., "Classification and Regression Trees" (1984), section 5.3.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor

from netwright.core.checks import check_shape
from netwright.data.spec import DataSpec
from netwright.inspection.drawing.figure_style import COLOURS
from netwright.inspection.drawing.ticks import few_ticks, name_ticks, names_room
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import percent, quoted, shown_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_BARS = 20
READ_WITH_CARE = (
    "It is measured on the training rows: features with many values are favoured, and correlated "
    "features share their importance."
)


@dataclass(frozen=True, kw_only=True)
class FeatureImportance(View):
    """The share of each feature in all that the splits gained, the largest first.

    Args:
        names: of the features shown.
        shares: one a name; those of all features add to 1, or are all 0 where nothing was split.
        num_features: how many there are; not all may be shown.
    """

    title: ClassVar[str] = "Feature importance"

    names: tuple[str, ...]
    shares: tuple[float, ...]
    num_features: int

    @property
    def size(self) -> tuple[float, float]:
        """Taller with more features."""
        return (4.4 + names_room(self.names), self._length + 0.8)

    @property
    def caption(self) -> str:
        """The feature that counts most."""
        if not any(self.shares):
            return "There is no split: every input gets the same prediction."
        shown = shown_of(len(self.names), self.num_features)
        return (
            f"Each feature's share of the total gain of all splits ({shown}). "
            f"{quoted(self.names[0])} gained most, {percent(self.shares[0])}. {READ_WITH_CARE}"
        )

    def draw(self, figure: "Figure") -> None:
        """Bars from left to right, the longest on top."""
        axes = figure.subplots()
        axes.barh(range(len(self.names)), self.shares, color=COLOURS[0], height=0.7)
        name_ticks(axes, "y", self.names, self._length)
        axes.invert_yaxis()
        few_ticks(axes)
        axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
        axes.set_xlabel("share of the gain")
        axes.grid(visible=False, axis="y")

    @property
    def _length(self) -> float:
        return max(0.24 * len(self.names), 0.6)


@dataclass(frozen=True, kw_only=True)
class PixelImportance(View):
    """The share of each pixel in all that the splits gained; channels are added.

    Args:
        shares: (I, J); they add to 1, or are all 0 where nothing was split.
    """

    title: ClassVar[str] = "Pixel importance"

    shares: tuple[tuple[float, ...], ...]

    @property
    def size(self) -> tuple[float, float]:
        """As tall as the images are for their width."""
        tall = 3.6 * len(self.shares) / len(self.shares[0])
        return (4.6, min(max(tall, 1.2), 6.0) + 0.4)

    @property
    def caption(self) -> str:
        """The pixel that counts most, and those that never do."""
        flat = [share for row in self.shares for share in row]
        if not any(flat):
            return "There is no split: every image gets the same prediction."
        row, column = divmod(flat.index(max(flat)), len(self.shares[0]))
        return (
            f"Each pixel's share of the total gain of all splits. The pixel in row "
            f"{row + 1}, column {column + 1} gained most, {percent(max(flat))}; "
            f"{flat.count(0.0):,} of {len(flat):,} were never used. {READ_WITH_CARE}"
        )

    def draw(self, figure: "Figure") -> None:
        """A map, light where a pixel counts."""
        axes = figure.subplots()
        image = axes.imshow(self.shares, cmap="viridis", vmin=0.0, interpolation="none")
        bar = figure.colorbar(image, ax=axes, label="share of the gain")
        bar.ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
        axes.set_axis_off()


def measure_feature_importance(
    importances: Tensor, spec: DataSpec
) -> FeatureImportance | PixelImportance:
    """Importances as bars, or as a map where inputs are images.

    Args:
        importances: one a number of an input, (D,), not negative.
        spec: of the data: what one input is, and the names of its features.
    """
    check_shape("importances", importances, spec.num_features)
    shares = importances.detach().cpu().double()
    if spec.inputs == "image":
        pixels = shares.reshape(spec.input_shape).sum(dim=0)  # (I, J)
        return PixelImportance(shares=tuple(tuple(row) for row in pixels.tolist()))
    names = spec.feature_names or tuple(f"feature {place + 1}" for place in range(len(shares)))
    order = shares.argsort(descending=True, stable=True)[:MOST_BARS].tolist()
    return FeatureImportance(
        names=tuple(names[place] for place in order),
        shares=tuple(shares[order].tolist()),
        num_features=len(shares),
    )
