"""A forecast over time: beside the truth, and beside the forecast that nothing changes.

Shapes: N windows in the order of time, K outputs.
Source: Hyndman and Koehler, "Another look at measures of forecast accuracy" (2006).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.inspection.drawing.figure_style import COLOURS, FAINT, INK, SMALL
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import check_names, number, quoted, short_name
from netwright.metrics.regression import rmse

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_OUTPUTS = 3
SHOWN = 120  # windows whose forecasts are drawn one by one, the last ones
SMOOTHED = 50  # windows whose errors are averaged to one point, or a tenth of all
MOST_POINTS = 500  # of a running error


@dataclass(frozen=True, kw_only=True)
class OutputForecast:
    """One output over time.

    Args:
        name: of the output.
        rmse: of the forecasts, root of the mean squared error.
        persistence_rmse: of the last known value as forecast; None where it is not known.
        true: the last few targets.
        predicted: the forecasts of these.
        errors: running root mean squared error of the forecasts, at `Forecast.places`.
        persistence_errors: the same of the last known value; empty where it is not known.
    """

    name: str
    rmse: float
    persistence_rmse: float | None
    true: tuple[float, ...]
    predicted: tuple[float, ...]
    errors: tuple[float, ...]
    persistence_errors: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Forecast(View):
    """The last forecasts beside the truth, and the running error of all, a row an output.

    Args:
        outputs: the first few.
        num_windows: how many were measured.
        smoothed: windows that each point of a running error is a mean of.
        places: the first of these windows, a point.
    """

    title: ClassVar[str] = "Forecast"

    outputs: tuple[OutputForecast, ...]
    num_windows: int
    smoothed: int
    places: tuple[int, ...]

    @property
    def size(self) -> tuple[float, float]:
        """Two panels an output, above each other."""
        return (7.6, 4.8 * len(self.outputs))

    @property
    def caption(self) -> str:
        """The typical error of each output, and that of saying the last value repeated."""
        said = ". ".join(map(_told, self.outputs))
        is_one = self.smoothed == 1
        point = "one window" if is_one else f"the root mean square of {self.smoothed} neighbours"
        return (
            f"{said}. Above: the last {len(self.outputs[0].true)} of {self.num_windows:,} "
            f"windows, in chronological order. Below: the error over all of them, each point "
            f"{point}."
        )

    def draw(self, figure: "Figure") -> None:
        """Forecast and truth above, running errors below."""
        panels = figure.subplots(2 * len(self.outputs), 1, squeeze=False)[:, 0]
        for place, output in enumerate(self.outputs):
            self._draw_forecasts(panels[2 * place], output)
            self._draw_errors(panels[2 * place + 1], output)

    def _draw_forecasts(self, axes: "Axes", output: OutputForecast) -> None:
        places = range(self.num_windows - len(output.true), self.num_windows)
        axes.plot(places, output.true, color=INK, linewidth=1.0, marker=".", label="true")
        axes.plot(places, output.predicted, color=COLOURS[1], label="forecast")
        axes.set(ylabel=short_name(output.name, 30), xlabel="window")
        axes.legend(fontsize=SMALL, ncols=2)

    def _draw_errors(self, axes: "Axes", output: OutputForecast) -> None:
        places = [place + (self.smoothed - 1) / 2 for place in self.places]
        if output.persistence_errors:
            axes.plot(places, output.persistence_errors, color=FAINT, label="last value repeated")
        axes.plot(places, output.errors, color=COLOURS[1], label="forecast")
        axes.set(ylabel="running error", xlabel="window")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=SMALL, ncols=2)


def _told(output: OutputForecast) -> str:
    said = f"{quoted(output.name)} is off by {number(output.rmse)} (root mean square)"
    if output.persistence_rmse is None:
        return said
    return f"{said}; repeating the last known value, by {number(output.persistence_rmse)}"


def measure_forecast(
    targets: Tensor,
    predictions: Tensor,
    target_names: Sequence[str],
    persistence: Tensor | None = None,
) -> Forecast:
    """Compare forecasts with what came, and with the forecast that nothing changes.

    Args:
        targets: what came (N, K), in the order of time.
        predictions: the forecasts (N, K).
        target_names: K names.
        persistence: the last known values (N, K), where they are known.
    """
    check_shape("targets", targets, "N", "K")
    rmse(predictions, targets)  # refuses shapes that differ, and what is not finite
    check_names("target_names", target_names, targets.shape[1])
    if persistence is not None:
        check_shape("persistence", persistence, *targets.shape)
    true, said = targets.detach().cpu(), predictions.detach().cpu()
    last = None if persistence is None else persistence.cpu()
    smoothed = max(1, min(SMOOTHED, len(true) // 10))
    count = len(true) - smoothed + 1
    places = torch.linspace(0, count - 1, min(count, MOST_POINTS)).long()

    def running(errors: Tensor) -> tuple[float, ...]:
        squares = errors.double().square().unfold(0, smoothed, 1)[places]
        return tuple(squares.mean(dim=1).sqrt().tolist())

    return Forecast(
        outputs=tuple(
            OutputForecast(
                name=name,
                rmse=rmse(said[:, k], true[:, k]),
                persistence_rmse=None if last is None else rmse(last[:, k], true[:, k]),
                true=tuple(true[-SHOWN:, k].tolist()),
                predicted=tuple(said[-SHOWN:, k].tolist()),
                errors=running(said[:, k] - true[:, k]),
                persistence_errors=() if last is None else running(last[:, k] - true[:, k]),
            )
            for k, name in enumerate(target_names[:MOST_OUTPUTS])
        ),
        num_windows=len(true),
        smoothed=smoothed,
        places=tuple(places.tolist()),
    )
