"""Feature maps: where in one image each filter of a convolutional network responds.

The image runs through the model once, in evaluation mode. Convolutions in a row whose maps have
one size are a stage; of each stage the last convolution is shown, after the normalisation and the
activation that follow it. The convolution that makes the model's output belongs to no stage: what
it says is the answer.

Shapes: one image (channels, I, J), F maps (F, I', J') of a convolution.
"""

import math
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from netwright.core.checks import check_finite, check_shape
from netwright.core.evaluation import evaluating
from netwright.inspection.drawing.pictures import Pixels, pixels_of
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number, quoted, short_name
from netwright.metrics.samples import check_not_empty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_MAPS = 8  # of a stage
MOST_STAGES = 9  # as many as a U-Net of depth 4 has
SIDE = 0.8  # inches of a picture
NAMES = 1.4  # inches for the names on the left
GAP = 0.06  # between pictures, as a share of one


@dataclass(frozen=True, kw_only=True)
class FeatureMap:
    """The response of one filter.

    Args:
        channel: which filter of its convolution it is.
        mean: the response over all places.
        largest: the response where it is strongest.
        pixels: black is the lowest response of this map, white the highest.
    """

    channel: int
    mean: float
    largest: float
    pixels: Pixels


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The last of the convolutions in a row whose maps have one size.

    Args:
        path: where it is in the model.
        num_maps: F, how many filters it has.
        sides: rows and columns of a map.
        maps: of the filters with the largest responses, the strongest first.
    """

    path: str
    num_maps: int
    sides: tuple[int, int]
    maps: tuple[FeatureMap, ...]


@dataclass(frozen=True, kw_only=True)
class FeatureMaps(View):
    """What the stages of a network make of one image.

    Args:
        seen: the image; channels that are neither grey nor colour are averaged.
        stages: from the first to the last.
    """

    title: ClassVar[str] = "Feature maps"

    seen: Pixels
    stages: tuple[Stage, ...]

    @property
    def size(self) -> tuple[float, float]:
        """A row for the image and one for each stage."""
        tall, wide = np.shape(self.seen)[:2]
        return (NAMES + SIDE * MOST_MAPS, SIDE * (1 + len(self.stages)) * tall / wide)

    @property
    def caption(self) -> str:
        """How to read it, and the strongest response of the last stage."""
        last = self.stages[-1]
        strongest = last.maps[0]
        areas = [math.prod(stage.sides) for stage in self.stages]
        shrink = len(areas) > 1 and all(one > after for one, after in pairwise(areas))
        coarser = "; later maps are coarser and look for more"
        return (
            "One image, and where in it the filters of each stage respond: white where a filter "
            "finds what it looks for. For each stage the most active filters are shown, the "
            f"strongest first, each on its own scale{coarser if shrink else ''}. In the last "
            f"stage, {quoted(last.path)}, filter {strongest.channel} is the strongest, "
            f"{number(strongest.mean)} on average and {number(strongest.largest)} at most."
        )

    def draw(self, figure: "Figure") -> None:
        """One set of axes holds all pictures: a set for each would take ten times as long."""
        axes = figure.subplots()
        tall, wide = np.shape(self.seen)[:2]
        height = tall / wide
        rows: list[tuple[str, tuple[Pixels, ...]]] = [("the image", (self.seen,))]
        rows += [(_name(stage), tuple(one.pixels for one in stage.maps)) for stage in self.stages]
        for row, (name, pictures) in enumerate(rows):
            for column, pixels in enumerate(pictures):
                axes.imshow(
                    np.array(pixels, dtype=np.uint8),
                    extent=(column, column + 1 - GAP, (row + 1) * height - GAP, row * height),
                    cmap="gray",
                    vmin=0,
                    vmax=255,
                    interpolation="none",
                )
            middle = (row + 0.5) * height - GAP / 2
            axes.text(-0.1, middle, name, ha="right", va="center", fontsize=8.5)
        axes.set(xlim=(-NAMES / SIDE, MOST_MAPS), ylim=(len(rows) * height, 0), aspect="equal")
        axes.set_axis_off()


def measure_feature_maps(model: nn.Module, images: Tensor) -> FeatureMaps | None:
    """The maps that the first image makes; None where it goes through no 2-D convolution.

    Args:
        model: reads images (B, channels, I, J).
        images: (N, channels, I, J), encoded as for training, on the model's device.
    """
    if not any(isinstance(part, nn.Conv2d) for part in model.modules()):
        return None
    check_shape("images", images, "N", "channels", "I", "J")
    check_not_empty("images", images)
    check_finite("images", images[:1])
    stages = _last_of_each_size(convolved_maps(model, images[:1]))
    if not stages:
        return None
    image = images[0] if images.shape[1] in (1, 3) else images[0].mean(dim=0, keepdim=True)
    return FeatureMaps(
        seen=pixels_of(image), stages=tuple(_stage(path, maps) for path, maps in _spread(stages))
    )


def convolved_maps(model: nn.Module, image: Tensor) -> list[tuple[str, Tensor]]:
    """Path and maps (F, I', J') of each convolution in the order of their calls.

    What follows a convolution and keeps the shape of its maps, a normalisation or an activation,
    has worked on them; pooling has not. Of several convolutions, the one that makes the model's
    output is left out.

    Args:
        model: any module; it is not changed.
        image: (1, channels, I, J).
    """
    found: list[tuple[str, Tensor]] = []

    def note(path: str, part: nn.Module, output: Any) -> None:
        if isinstance(part, nn.Conv2d):
            found.append((path, output[0]))
        elif found and isinstance(output, Tensor) and output.shape[1:] == found[-1][1].shape:
            found[-1] = (found[-1][0], output[0])

    with ExitStack() as hooks, evaluating(model):
        for path, part in model.named_modules():
            if not any(part.children()):
                hooks.enter_context(
                    part.register_forward_hook(
                        lambda part, _, output, path=path: note(path, part, output)
                    )
                )
        output = model(image)
    if len(found) > 1 and isinstance(output, Tensor) and torch.equal(found[-1][1], output[0]):
        found.pop()
    return found


def _last_of_each_size(found: list[tuple[str, Tensor]]) -> list[tuple[str, Tensor]]:
    by_size = groupby(found, key=lambda one: one[1].shape[1:])
    return [list(group)[-1] for _, group in by_size]


def _spread(stages: list[tuple[str, Tensor]]) -> list[tuple[str, Tensor]]:
    """No more than can be shown, from the first to the last, evenly."""
    places = np.linspace(0, len(stages) - 1, min(len(stages), MOST_STAGES)).round().astype(int)
    return [stages[place] for place in places]


def _stage(path: str, maps: Tensor) -> Stage:
    strongest = maps.flatten(1).amax(dim=1).argsort(descending=True, stable=True)[:MOST_MAPS]
    shown = tuple(
        FeatureMap(
            channel=channel,
            mean=float(maps[channel].mean()),
            largest=float(maps[channel].max()),
            pixels=pixels_of(maps[channel, None]),
        )
        for channel in strongest.tolist()
    )
    rows, columns = maps.shape[1:]
    return Stage(path=path, num_maps=len(maps), sides=(rows, columns), maps=shown)


def _name(stage: Stage) -> str:
    rows, columns = stage.sides
    return f"{short_name(stage.path or 'convolution')}\n{stage.num_maps} maps of {rows} x {columns}"
