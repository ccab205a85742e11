"""Attention maps: from where each token takes what it needs, a panel a head.

Row i of a map says how the attention of query i is shared among the keys. In translation the
queries are the tokens that are said and the keys those of the source: the map is an alignment. In
self-attention both are the same tokens.

Shapes: Q queries, K keys.
Source: Bahdanau, Cho and Bengio, "Neural Machine Translation by Jointly Learning to Align and
Translate" (2015), figure 3.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from torch import Tensor

from netwright.core.checks import check_finite, check_shape
from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import white_to_blue
from netwright.inspection.drawing.ticks import name_ticks, names_room
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import check_names, percent, quoted, short_name
from netwright.metrics.samples import check_not_empty, check_probabilities

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_MAPS = 12
MOST_COLUMNS = 4
CELL, LEAST_SIDE = 0.2, 1.4  # inches
MOST_SIDES = (6.2, 4.0, 2.6)  # of a panel, where there are 1, 2, or more of them in a row
MARGIN = 0.75  # inches for what is written around a panel, beside the names of the tokens


@dataclass(frozen=True, kw_only=True)
class AttentionMap:
    """One head's attention.

    Args:
        name: where it is in the model, "layer 2, head 1"; may be empty where there is one only.
        weights: (Q, K), each row a distribution over the keys.
    """

    name: str
    weights: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, kw_only=True)
class AttentionMaps(View):
    """Who looks at whom, in several heads for the same tokens.

    Args:
        queries: the tokens that look, Q of them.
        keys: the tokens that are looked at, K of them.
        maps: of a few heads, from the first to the last.
        heads: how many there are in the model.
    """

    title: ClassVar[str] = "Attention maps"

    queries: tuple[str, ...]
    keys: tuple[str, ...]
    maps: tuple[AttentionMap, ...]
    heads: int

    @property
    def size(self) -> tuple[float, float]:
        """Square cells as far as they go, and room for the tokens beside each panel."""
        wide, tall = self._sides
        columns, rows = self._grid
        names = MARGIN + names_room(self.queries)
        below = MARGIN + min(names_room(self.keys), 1.0)
        return (columns * (wide + names) + 0.7, rows * (tall + below))

    @property
    def caption(self) -> str:
        """How to read it, and which head looks most sharply."""
        peaks = [float(np.max(head.weights, axis=1).mean()) for head in self.maps]
        sharpest = int(np.argmax(peaks))
        where = f" of {quoted(self.maps[sharpest].name)}" if len(self.maps) > 1 else ""
        few = (
            f" {len(self.maps)} of {self.heads} heads are shown." if self.heads > len(peaks) else ""
        )
        return (
            "Rows are queries, columns are keys; the darker a cell, the larger its share of the "
            f"row's attention.{few} The largest share in a row{where} is "
            f"{percent(peaks[sharpest])} on average; spread evenly it would be "
            f"{percent(1 / len(self.keys))}."
        )

    def draw(self, figure: "Figure") -> None:
        """A panel a head, all in one scale."""
        columns, rows = self._grid
        panels = figure.subplots(rows, columns, squeeze=False).flat
        most = max(float(np.max(head.weights)) for head in self.maps)
        for head, axes in zip(self.maps, panels, strict=False):
            shown = axes.imshow(
                np.array(head.weights),
                cmap=white_to_blue(),
                vmin=0,
                vmax=most,
                interpolation="none",
                aspect="auto",
            )
            self._label(axes, head.name)
        for axes in list(panels)[len(self.maps) :]:
            axes.set_axis_off()
        figure.colorbar(shown, ax=figure.axes, label="share of attention", shrink=0.8)

    def _label(self, axes: "Axes", name: str) -> None:
        wide, tall = self._sides
        name_ticks(axes, "x", self.keys, wide)
        name_ticks(axes, "y", self.queries, tall)
        axes.set(xlabel="key", ylabel="query")
        if name:
            axes.set_title(short_name(name, 30), fontsize=9)
        axes.spines[:].set_visible(True)
        axes.grid(visible=False)

    @property
    def _grid(self) -> tuple[int, int]:
        """Panels in a row, and rows."""
        columns = min(len(self.maps), MOST_COLUMNS)
        return columns, math.ceil(len(self.maps) / columns)

    @property
    def _sides(self) -> tuple[float, float]:
        """Width and height of a panel."""
        most = MOST_SIDES[min(self._grid[0], len(MOST_SIDES)) - 1]
        wide, tall = (
            min(max(CELL * len(tokens), LEAST_SIDE), most) for tokens in (self.keys, self.queries)
        )
        return wide, tall


def measure_attention_maps(
    heads: Mapping[str, Tensor], queries: Sequence[str], keys: Sequence[str]
) -> AttentionMaps:
    """Maps of a few heads, evenly spread over all.

    Args:
        heads: name -> weights (Q, K), each row a distribution over the keys, or zeros where there
            is nothing to attend to.
        queries: the tokens that look, Q.
        keys: the tokens that are looked at, K.
    """
    if not heads:
        raise DataError("there is no attention head to show")
    for name, weights in heads.items():
        what = f"the attention {name!r}" if name else "the attention"
        check_shape(what, weights, "Q", "K")
        check_not_empty(what, weights)
        check_finite(what, weights)
        check_probabilities(weights)
        check_names("queries", queries, len(weights))
        check_names("keys", keys, weights.shape[1])
    names = list(heads)
    places = np.linspace(0, len(names) - 1, min(len(names), MOST_MAPS)).round().astype(int)
    return AttentionMaps(
        queries=tuple(queries),
        keys=tuple(keys),
        maps=tuple(_map(names[place], heads[names[place]]) for place in places),
        heads=len(heads),
    )


def _map(name: str, weights: Tensor) -> AttentionMap:
    rows = weights.detach().cpu().double().tolist()
    return AttentionMap(name=name, weights=tuple(tuple(row) for row in rows))
