"""An embedding map: what a model has made of its inputs, on a plane.

Every example is a vector within the model, most often what comes into its last linear map. PCA
shows the two directions in which these vectors differ most; t-SNE keeps near ones near, and says
nothing by distances between clumps. How well the vectors themselves tell the targets apart is
measured in all their dimensions: each point is guessed from its nearest neighbours.

Shapes: N vectors of D numbers, C classes.
Source: Pearson, "On Lines and Planes of Closest Fit to Systems of Points in Space" (1901); van der
Maaten and Hinton, "Visualizing Data using t-SNE" (2008); Cover and Hart, "Nearest neighbor pattern
classification" (1967).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn

from netwright.core.adapted_module import module_name
from netwright.core.checks import check_finite, check_shape, nearest
from netwright.core.errors import DataError, UnknownNameError
from netwright.core.evaluation import evaluating
from netwright.core.trees import tensors_of
from netwright.inspection.drawing.figure_style import COLOURS, INK
from netwright.inspection.drawing.shown_rows import dot_size
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import legend_name, percent, short_name
from netwright.inspection.inside.torch_calls import WatchedCalls
from netwright.inspection.predictions.decision_regions import MOST_IN_LEGEND, class_colours
from netwright.inspection.predictions.plane import plane_through
from netwright.metrics.samples import check_classes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Method = Literal["pca", "tsne"]
NEIGHBOURS = 5
MOST_NAMED = 200
NAME_SIZE = 9  # points, of the letters of a name
LETTER_WIDTH, LINE_HEIGHT = 0.65 * NAME_SIZE, 1.2 * NAME_SIZE
LAST_MAPS = frozenset({"linear", "conv1d", "conv2d", "conv3d"})


@dataclass(frozen=True, kw_only=True)
class EmbeddingMap(View):
    """Vectors of a model on a plane.

    Args:
        vectors: which they are, in words.
        method: how they come to the plane.
        points: where they lie, (N, 2).
        classes: the class of each (N,), or nothing.
        class_names: C names.
        values: the real of each (N,), or nothing.
        value_name: what it is.
        labels: what is written beside the first points.
        num_dimensions: D.
        variance_share: of the vectors' variance that lies in the plane of PCA.
        neighbour_score: of guessing each from its nearest neighbours in all D dimensions: the share
            of right classes, or of explained variance; None where there is nothing to guess.
        guess_score: the share of the commonest class.
    """

    title: ClassVar[str] = "Embedding map"

    vectors: str
    method: Method
    points: tuple[tuple[float, float], ...]
    classes: tuple[int, ...] = ()
    class_names: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    value_name: str = ""
    labels: tuple[str, ...] = ()
    num_dimensions: int
    variance_share: float
    neighbour_score: float | None = None
    guess_score: float = 0.0

    @property
    def size(self) -> tuple[float, float]:
        """The map, and the names of the classes beside it."""
        return (7.4, 5.0)

    @property
    def caption(self) -> str:
        """What a point is, how it came to the plane, and how well neighbours tell."""
        how = (
            "by their first two principal components, which hold "
            f"{percent(self.variance_share)} of the variance"
            if self.method == "pca"
            else "by t-SNE, which keeps near points near; distances between clusters mean nothing"
        )
        return (
            f"A point is {self.vectors}, a vector of {self.num_dimensions:,} numbers; "
            f"{len(self.points):,} of them are shown {how}.{self._told}"
        )

    @property
    def _told(self) -> str:
        if self.neighbour_score is None:
            return ""
        near = f" In all {self.num_dimensions:,} dimensions the {NEIGHBOURS} nearest neighbours"
        if self.values:
            share = percent(self.neighbour_score)
            told = (
                f"explain {share} of the variance" if self.neighbour_score > 0 else "tell nothing"
            )
            return f"{near} {told} of {self.value_name}."
        return (
            f"{near} of a point tell its class for {percent(self.neighbour_score)}; the commonest "
            f"class would be right for {percent(self.guess_score)}."
        )

    def draw(self, figure: "Figure") -> None:
        """Points in the colour of their class or value, some with their names."""
        axes, places = figure.subplots(), np.array(self.points)
        dots: dict[str, Any] = {"s": 2 * dot_size(len(places)), "edgecolors": "white", "lw": 0.3}
        if self.values:
            shown = axes.scatter(places[:, 0], places[:, 1], c=self.values, cmap="cividis", **dots)
            figure.colorbar(shown, ax=axes, label=short_name(self.value_name, 40))
        elif self.classes:
            colours = class_colours(len(self.class_names))
            axes.scatter(places[:, 0], places[:, 1], c=colours[list(self.classes)], **dots)
            if len(self.class_names) <= MOST_IN_LEGEND:
                for name, colour in zip(self.class_names, colours, strict=True):
                    axes.scatter([], [], color=[colour], s=28, label=legend_name(name))
                figure.legend(loc="outside right upper", fontsize=9)
        else:
            axes.scatter(places[:, 0], places[:, 1], color=COLOURS[5], **dots)
        self._name_points(axes)
        axis = "principal component" if self.method == "pca" else "t-SNE axis"
        axes.set(xlabel=f"{axis} 1", ylabel=f"{axis} 2")

    def _name_points(self, axes: "Axes") -> None:
        """Names beside the first points; one that would cover another is left out."""
        axes.autoscale_view()  # else it is put off until the points are drawn
        to_points = 72 / axes.figure.dpi  # of pixels
        written: list[tuple[float, float, float]] = []  # left, right, height
        for name, place in zip(self.labels, self.points, strict=False):
            shown = short_name(name, 14)
            left, height = (to_points * axes.transData.transform(place)).tolist()
            right = left + LETTER_WIDTH * len(shown)
            if any(
                left < end and begin < right and abs(height - other) < LINE_HEIGHT
                for begin, end, other in written
            ):
                continue
            written.append((left, right, height))
            axes.annotate(
                shown,
                place,
                xytext=(3, 3),
                textcoords="offset points",
                fontsize=NAME_SIZE,
                color=INK,
            )


def measure_embedding_map(
    vectors: Tensor,
    what: str,
    *,
    classes: Tensor | None = None,
    class_names: Sequence[str] = (),
    values: Tensor | None = None,
    value_name: str = "",
    labels: Sequence[str] = (),
    method: Method = "pca",
) -> EmbeddingMap:
    """Lay vectors on a plane, and ask how well neighbours agree.

    Args:
        vectors: (N, D).
        what: which vectors they are, in words.
        classes: int64 (N,), where there are some.
        class_names: C names.
        values: a real each (N,), where there are no classes.
        value_name: what they are.
        labels: names of the first points, where these have some.
        method: of coming to the plane.
    """
    check_shape("vectors", vectors, "N", "D")
    check_finite("vectors", vectors)
    if len(vectors) < 3:
        raise DataError(f"a map needs at least 3 vectors, got {len(vectors)}")
    exact = vectors.detach().cpu().double()
    plane = plane_through(exact)
    points = plane.project(exact) if method == "pca" else _tsne(exact)
    score, guess = None, 0.0
    if classes is not None:
        check_classes("classes", classes, len(class_names))
        score = neighbour_accuracy(exact, classes.cpu())
        guess = float(classes.bincount().max()) / len(classes)
    elif values is not None:
        check_shape("values", values, len(vectors))
        score = neighbour_variance(exact, values.cpu().double())
    return EmbeddingMap(
        vectors=what,
        method=method,
        points=tuple((x, y) for x, y in points.tolist()),
        classes=() if classes is None else tuple(classes.tolist()),
        class_names=tuple(class_names),
        values=() if values is None else tuple(values.tolist()),
        value_name=value_name,
        labels=tuple(labels[:MOST_NAMED]),
        num_dimensions=vectors.shape[1],
        variance_share=plane.variance_share,
        neighbour_score=score,
        guess_score=guess,
    )


def neighbour_accuracy(vectors: Tensor, classes: Tensor) -> float:
    """The share of points whose class most of their nearest neighbours have."""
    said = classes[_neighbours(vectors)].mode(dim=1).values
    return float((said == classes).double().mean())


def neighbour_variance(vectors: Tensor, values: Tensor) -> float:
    """The share of the values' variance that the mean of the nearest neighbours explains."""
    errors = values - values[_neighbours(vectors)].mean(dim=1)
    spread = (values - values.mean()).square().sum()
    return 1 - float(errors.square().sum() / spread) if spread > 0 else 0.0


def vectors_before_last(model: nn.Module, inputs: Tensor) -> Tensor:
    """What comes into the last linear map or convolution of a model, features last (B, ..., D)."""
    found: list[Tensor] = []

    def note(
        func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any
    ) -> Any:
        name = getattr(func, "__name__", "")
        if name in LAST_MAPS:
            seen: Tensor = args[0] if args else kwargs["input"]
            found[:] = [seen if name == "linear" else seen.movedim(1, -1)]
        return result

    with evaluating(model), WatchedCalls(note):
        model(inputs)
    if not found:
        raise DataError(f"{module_name(model)} has no linear layer whose inputs could be shown")
    return found[0]


def vectors_after(model: nn.Module, path: str, inputs: Tensor) -> Tensor:
    """What a module of a model gives, features last (B, ..., D)."""
    parts = dict(model.named_modules())
    if path not in parts:
        hint = nearest(path, parts) or f"; there are {', '.join(list(parts)[1:])}"
        raise UnknownNameError(f"unknown layer {path!r}{hint}")
    found: list[Tensor] = []
    with (
        parts[path].register_forward_hook(lambda _, __, output: found.extend(tensors_of(output))),
        evaluating(model),
    ):
        model(inputs)
    if not found:
        raise DataError(f"the layer {path!r} gives no tensor")
    return found[0].movedim(1, -1) if found[0].ndim == 4 else found[0]


def _neighbours(vectors: Tensor) -> Tensor:
    """The nearest others of each point, (N, at most NEIGHBOURS)."""
    distances = torch.cdist(vectors, vectors).fill_diagonal_(torch.inf)
    return distances.topk(min(NEIGHBOURS, len(vectors) - 1), largest=False).indices


def _tsne(vectors: Tensor) -> Tensor:
    from sklearn.manifold import TSNE  # noqa: PLC0415 - scikit-learn costs seconds

    perplexity = min(30.0, (len(vectors) - 1) / 3)
    placed = TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(vectors.numpy())
    return torch.from_numpy(placed).double()
