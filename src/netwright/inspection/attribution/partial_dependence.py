r"""Partial dependence: what a model says on average when one column has the same value in all rows.

    f_g(v) = 1/N sum_i f(x_i with column g set to v)

The interval is the 95 % one of that mean over the rows, f_g(v) +- 1.96 sd_i / sqrt(N): it tells how
much the curve would move with other rows, not how unsure the model is. Values of a number are
quantiles of the rows, from 5 % to 95 %; a category has each of its values. Where columns go
together, some of the rows that are asked about do not exist.

Shapes: N rows, F features, V values of a column, K outputs.
Source: Friedman, "Greedy Function Approximation" (2001), section 8.2; Goldstein et al., "Peeking
Inside the Black Box" (2015), for the rows that are behind the mean.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import torch
from torch import Tensor

from netwright.core.checks import check_shape, nearest
from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.inspection.attribution.permutation_importance import column_names
from netwright.inspection.drawing.figure_style import colour_of
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import legend_name, quoted, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COLUMNS, MOST_VALUES, MOST_ROWS, MOST_OUTPUTS = 4, 20, 500, 4
LOW, HIGH = 0.05, 0.95  # quantiles between which a number is moved
NORMAL = 1.96
ANY = (-math.inf, math.inf)


@dataclass(frozen=True, kw_only=True)
class Dependence:
    """One column.

    Args:
        name: of the column.
        values: as numbers (V,) in the column's own units; empty for categories.
        categories: their names (V,); empty for numbers.
        means: of each output, K lists (V,).
        halves: of the intervals, K lists (V,).
        reach: the largest difference of means of an output.
    """

    name: str
    values: tuple[float, ...]
    categories: tuple[str, ...]
    means: tuple[tuple[float, ...], ...]
    halves: tuple[tuple[float, ...], ...]
    reach: float


@dataclass(frozen=True, kw_only=True)
class PartialDependence(View):
    """Curves of the columns that move the answer most, or of those that were asked for.

    Args:
        columns: the one with the largest reach first.
        outputs: names of the outputs that are drawn.
        is_class: whether these are probabilities.
        num_columns: of the table.
        num_rows: that were asked about.
    """

    title: ClassVar[str] = "Partial dependence"

    columns: tuple[Dependence, ...]
    outputs: tuple[str, ...]
    is_class: bool
    num_columns: int
    num_rows: int

    @property
    def size(self) -> tuple[float, float]:
        """Two columns of panels."""
        return (8.6 if len(self.columns) > 1 else 5.0, 3.2 * ((len(self.columns) + 1) // 2))

    @property
    def caption(self) -> str:
        """What moves the answer most, and how to read the band."""
        first = self.columns[0]
        what = "probability" if self.is_class else "prediction"
        return (
            f"The mean {what} over {self.num_rows:,} rows when one column is set to the same value "
            f"in all of them; {len(self.columns)} of {self.num_columns} columns. The band is the "
            f"95 % interval of the mean over rows. {quoted(first.name)} moves it most, by "
            f"{first.reach:.3g}. Where columns go together, some of these rows do not exist."
        )

    def table_rows(self) -> list[dict[str, str]]:
        """A row a column: from where to where the mean goes."""
        return [
            {
                "column": one.name,
                "output": output,
                "lowest mean": f"{min(means):.4g}",
                "highest mean": f"{max(means):.4g}",
            }
            for one in self.columns
            for output, means in zip(self.outputs, one.means, strict=True)
        ]

    def draw(self, figure: "Figure") -> None:
        """A panel a column, all on one scale."""
        wide = 2 if len(self.columns) > 1 else 1
        panels = figure.subplots((len(self.columns) + 1) // 2, wide, squeeze=False, sharey=True)
        for axes, one in zip(panels.flat, self.columns, strict=False):
            _draw(axes, one, self.outputs, bounds=(0.0, 1.0) if self.is_class else ANY)
        for axes in panels.flat[len(self.columns) :]:
            axes.set_axis_off()
        what = "mean probability" if self.is_class else "mean prediction"
        if self.is_class and len(self.outputs) == 1:
            what += f" of {short_name(self.outputs[0], 12)}"
        for row in panels:
            row[0].set_ylabel(what)
        if len(self.outputs) > 1:
            lines, names = panels[0, 0].get_legend_handles_labels()
            figure.legend(lines, names, loc="outside upper center", ncols=len(names))


def _draw(
    axes: "Axes", one: Dependence, outputs: Sequence[str], bounds: tuple[float, float]
) -> None:
    """One panel; intervals end where the answers do."""
    places = one.values or tuple(range(len(one.categories)))
    for index, name in enumerate(outputs):
        mean, half = torch.tensor(one.means[index]), torch.tensor(one.halves[index])
        low, high = (mean - half).clamp(*bounds), (mean + half).clamp(*bounds)
        colour = colour_of(index)
        if one.categories:
            reach = torch.stack([mean - low, high - mean]).clamp(min=0)  # a mean may be 1 + 1e-7
            axes.errorbar(
                places, mean, reach, fmt="o", color=colour, capsize=3, label=legend_name(name)
            )
        else:
            axes.plot(places, mean, color=colour, label=legend_name(name))
            axes.fill_between(places, low, high, color=colour, alpha=0.2, lw=0)
    if one.categories:
        names = [short_name(name, 12) for name in one.categories]
        axes.set_xticks(places, names, rotation=30, ha="right")
        axes.margins(x=0.2)
    axes.set_xlabel(short_name(one.name, 40))


class _Values(NamedTuple):
    """What a column is set to: encoded (V, features of the column), as numbers or by name."""

    encoded: Tensor
    numbers: tuple[float, ...]
    categories: tuple[str, ...]


def measure_partial_dependence(
    predict: Callable[[Tensor], Tensor],
    inputs: Tensor,
    spec: DataSpec,
    units: tuple[Tensor, Tensor],
    *,
    columns: Sequence[str] = (),
    categories: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> PartialDependence:
    """Set columns to their values one after the other, and ask the model.

    Args:
        predict: encoded rows -> probabilities (N, C), or reals (N, K).
        inputs: (N, F).
        spec: the names of the features, and which are one column.
        units: offset and scale of each feature (F,), as `Preprocessor.units` gives them.
        columns: their names; by default those that move the answer most.
        categories: of each column that is embedded, by their places.
    """
    check_shape("inputs", inputs, "N", spec.num_features)
    names = list(column_names(spec))
    for name in columns:
        if name not in names:
            hint = nearest(name, names) or f"; there are {', '.join(names[:12])}"
            raise ConfigError(f"there is no column {name!r} to learn from{hint}")
    rows = torch.linspace(0, len(inputs) - 1, min(MOST_ROWS, len(inputs))).round().long()
    inputs = inputs[rows].double()
    groups = torch.tensor(spec.groups_of_features)
    outputs = _outputs(spec)
    found = []
    for group, name in enumerate(names):
        if columns and name not in columns:
            continue
        places = (groups == group).nonzero()[:, 0]
        if name in categories:
            values = _commonest(inputs[:, places], categories[name])
        else:
            values = _values(inputs, places, name, spec, units)
        if len(values.encoded) > 1:
            found.append(_dependence(predict, inputs, name, places, values, outputs))
    if not found:
        raise ConfigError("no column has two values in these rows: there is nothing to move")
    found.sort(key=lambda one: -one.reach)
    output_names = spec.class_names or spec.target_names or spec.output_names
    return PartialDependence(
        columns=tuple(found if columns else found[:MOST_COLUMNS]),
        outputs=tuple(output_names[place] for place in outputs),
        is_class=spec.target == "class",
        num_columns=len(names),
        num_rows=len(inputs),
    )


def _outputs(spec: DataSpec) -> list[int]:
    """Of two classes the second says all."""
    if spec.target == "class" and spec.num_outputs == 2:
        return [1]
    return list(range(min(spec.num_outputs, MOST_OUTPUTS)))


def _values(
    inputs: Tensor, places: Tensor, column: str, spec: DataSpec, units: tuple[Tensor, Tensor]
) -> _Values:
    if len(places) > 1:  # a category: one feature each
        features = [spec.feature_names[place] for place in places.tolist()]
        names = tuple(feature.removeprefix(f"{column}=") for feature in features[:MOST_VALUES])
        return _Values(torch.eye(len(places), dtype=torch.float64)[:MOST_VALUES], (), names)
    (place,) = places.tolist()
    shares = torch.linspace(LOW, HIGH, MOST_VALUES, dtype=torch.float64)
    encoded = torch.unique(inputs[:, place].quantile(shares, interpolation="nearest"))
    offset, scale = units
    numbers = (encoded * scale[place] + offset[place]).tolist()
    return _Values(encoded[:, None], tuple(numbers), ())


def _commonest(places: Tensor, names: Sequence[str]) -> _Values:
    """The categories that most rows (N, 1) have, of those that training had."""
    found, counts = torch.unique(places, return_counts=True)
    known = found < len(names)
    found, counts = found[known], counts[known]
    encoded = found[counts.argsort(descending=True, stable=True)[:MOST_VALUES]].sort().values
    return _Values(encoded[:, None], (), tuple(names[int(place)] for place in encoded))


def _dependence(
    predict: Callable[[Tensor], Tensor],
    inputs: Tensor,
    name: str,
    places: Tensor,
    values: _Values,
    outputs: Sequence[int],
) -> Dependence:
    said = []
    for value in values.encoded:
        changed = inputs.clone()
        changed[:, places] = value
        said.append(predict(changed.float()).detach().cpu().double()[:, list(outputs)])
    answers = torch.stack(said)  # (V, N, K)
    means = answers.mean(dim=1)
    half = NORMAL * answers.std(dim=1, correction=0) / len(inputs) ** 0.5
    return Dependence(
        name=name,
        values=values.numbers,
        categories=values.categories,
        means=tuple(map(tuple, means.T.tolist())),
        halves=tuple(map(tuple, half.T.tolist())),
        reach=float((means.amax(dim=0) - means.amin(dim=0)).max()),
    )
