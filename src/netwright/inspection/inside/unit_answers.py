"""What each unit of a network's dense layers answers to one input, layer by layer.

Shapes: D inputs of a layer, U its units.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from torch import Tensor, nn

from netwright.core.checks import check_finite
from netwright.inspection.drawing.figure_style import COLOURS
from netwright.inspection.drawing.pictures import Pixels, as_images, pixels_of
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number, quoted, shown_of
from netwright.inspection.inside.dense_units import measure_units
from netwright.inspection.inside.watched_layers import layer_name, spread_evenly

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LAYERS = 8
MOST_NAMES = 40  # units of the last layer that are called by the classes


@dataclass(frozen=True, kw_only=True)
class AnsweringLayer:
    """One dense layer.

    Args:
        path: of its dense map in the model.
        answers: of its units, (U,), after the nonlinearity that follows.
    """

    path: str
    answers: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class UnitAnswers(View):
    """The answers of all units to one input.

    Args:
        seen: the input where it is an image of one or three channels, else None.
        layers: in the order in which they are called.
        names: of the units of the last layer; empty where they have none.
    """

    title: ClassVar[str] = "What the units answer"

    seen: Pixels | None
    layers: tuple[AnsweringLayer, ...]
    names: tuple[str, ...]

    @property
    def size(self) -> tuple[float, float]:
        """A row for each layer, and the image to the left of them."""
        return (8.4, 0.6 + 1.35 * len(self._shown))

    @property
    def caption(self) -> str:
        """How to read it, and the unit of the last layer that answers most."""
        last = self.layers[-1]
        largest = int(np.argmax(last.answers))
        name = quoted(self.names[largest]) if self.names else f"unit {largest + 1}"
        few = ""
        if len(self._shown) < len(self.layers):
            few = f" {shown_of(len(self._shown), len(self.layers))} layers are drawn."
        return (
            "One input, and what each unit of each dense layer answers to it after its "
            "nonlinearity, from the first layer to the last; bars that are missing are 0. In the "
            f"last, {quoted(layer_name(last.path))}, {name} answers most, "
            f"{number(last.answers[largest])}.{few}"
        )

    def table_rows(self) -> list[dict[str, str]]:
        """One row a layer, for a page or a terminal."""
        return [
            {
                "layer": layer_name(layer.path),
                "units": f"{len(layer.answers):,}",
                "lowest": number(min(layer.answers)),
                "highest": number(max(layer.answers)),
                "strongest": f"unit {int(np.argmax(np.abs(layer.answers))) + 1}",
                "zero": f"{layer.answers.count(0.0):,}",
            }
            for layer in self.layers
        ]

    def draw(self, figure: "Figure") -> None:
        """The image on the left, a row of bars for each layer on the right."""
        rows = len(self._shown)
        grid = figure.add_gridspec(rows, 2, width_ratios=(1, 4 if self.seen is not None else 40))
        if self.seen is not None:
            picture = figure.add_subplot(grid[:, 0])
            pixels = np.array(self.seen, dtype=np.uint8)
            picture.imshow(pixels, cmap="gray", vmin=0, vmax=255, interpolation="none")
            picture.set_axis_off()
        for row, layer in enumerate(self._shown):
            axes = figure.add_subplot(grid[row, 1])
            _draw_bars(axes, layer, self.names if layer is self.layers[-1] else ())

    @property
    def _shown(self) -> list[AnsweringLayer]:
        return spread_evenly(self.layers, MOST_LAYERS)


def _draw_bars(axes: "Axes", layer: AnsweringLayer, names: tuple[str, ...]) -> None:
    answers = np.array(layer.answers)
    colours = [COLOURS[0] if one >= 0 else COLOURS[1] for one in answers]
    axes.bar(np.arange(1, len(answers) + 1), answers, color=colours, width=0.8)
    axes.axhline(0, color="#6b7580", linewidth=0.8)
    axes.set(ylabel="answer", xlim=(0.4, len(answers) + 0.6))
    axes.set_title(f"{layer_name(layer.path)}, {len(answers):,} units", fontsize=9, loc="left")
    axes.grid(visible=False, axis="x")
    if 0 < len(names) <= MOST_NAMES:
        tilt = 0 if sum(map(len, names)) < 60 else 45
        axes.set_xticks(range(1, len(names) + 1), names, rotation=tilt)


def measure_unit_answers(
    model: nn.Module, inputs: Tensor, names: tuple[str, ...] = ()
) -> UnitAnswers | None:
    """The answers to the first of some inputs; None where the model has no dense layer.

    Args:
        model: any module of one input; it is left exactly as it was.
        inputs: (N, ...), encoded as for training, on the model's device.
        names: of the outputs; taken for the last layer where it has as many units.
    """
    _, layers = measure_units(model, inputs[:1])
    if not layers:
        return None
    for layer in layers:
        check_finite(f"what layer {layer.path!r} answers", layer.answers)
    image = as_images(inputs[:1], None) if inputs.is_floating_point() else None
    return UnitAnswers(
        seen=None if image is None else pixels_of(image[0]),
        layers=tuple(
            AnsweringLayer(path=layer.path, answers=tuple(layer.answers[0].tolist()))
            for layer in layers
        ),
        names=names if len(names) == layers[-1].answers.shape[1] else (),
    )
