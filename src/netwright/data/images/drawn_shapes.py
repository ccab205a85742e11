"""Drawn shapes: circles, squares and triangles in colours, apart from each other, and their boxes.

What there is to be found in an image is a set: its objects have no order, and their number differs.

Shapes: N images (N, 3, I, I), M objects at most; targets (N, M, 5) are the place of a shape among
SHAPES, -1: no object, and its box: centre x and y, width and height, as shares of the side.
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.config import Doc, Size
from netwright.core.limits import CONTENT
from netwright.data.dataset import Data, check_data
from netwright.data.images.encoder import ImageEncoder
from netwright.data.images.normalization import measured_scaling
from netwright.data.pixels import PixelSplit
from netwright.data.source import Source
from netwright.data.split import hold_out
from netwright.data.synthetic.base import LICENCE, SyntheticConfig, stream

SHAPES = ("circle", "square", "triangle")
COLOURS = {"red": (220, 50, 50), "green": (60, 180, 75), "blue": (60, 90, 220)}
LEAST, MOST = 0.25, 0.4  # sides of a shape, as shares of the image's
GREY, NOISE = 30.0, 10.0  # the background's mean and standard deviation, of 255


@dataclass(frozen=True, kw_only=True)
class ShapesConfig(SyntheticConfig):
    """How many images are drawn, how large, and how many shapes each has."""

    n: Annotated[Size, Doc("total number of images, including those held out")] = 4000
    side: Annotated[int, Interval(ge=16, le=512), Doc("height and width of an image")] = 32
    objects: Annotated[
        int, Interval(ge=1, le=3), Doc("maximum shapes per image; each has at least one")
    ] = 2

    def __post_init__(self) -> None:
        """Refuse more pixels than data may hold before they are drawn."""
        super().__post_init__()
        CONTENT.check(f"n={self.n} images", 3e-9 * self.n * self.side**2, "takes")


class Scenes(NamedTuple):
    """What is in each image.

    Args:
        shapes: places among SHAPES (N, M); -1: nothing.
        colours: places among COLOURS (N, M).
        corners: left, top and side of each in pixels (N, M, 3).
    """

    shapes: Tensor
    colours: Tensor
    corners: Tensor


def draw_scenes(count: int, side: int, objects: Tensor, random: torch.Generator) -> Scenes:
    """So many scenes; image i has `objects[i]` shapes, whose boxes do not touch."""
    most = int(objects.max())
    shapes = torch.randint(len(SHAPES), (count, most), generator=random)
    colours = torch.randint(len(COLOURS), (count, most), generator=random)
    shapes[torch.arange(most) >= objects[:, None]] = -1
    corners = torch.zeros(count, most, 3, dtype=torch.int64)
    left = torch.arange(count)
    while len(left):  # those that touch are drawn again
        sizes = torch.randint(
            round(LEAST * side), round(MOST * side) + 1, (len(left), most), generator=random
        )
        places = torch.rand(len(left), most, 2, generator=random) * (side - sizes + 1)[..., None]
        corners[left] = torch.cat((places.long(), sizes[..., None]), dim=2)
        left = left[_touching(corners[left], shapes[left] >= 0)]
    return Scenes(shapes, colours, corners)


def paint(scenes: Scenes, side: int, random: torch.Generator) -> Tensor:
    """The scenes as bytes (N, 3, I, I), on a dark ground with noise."""
    count, most = scenes.shapes.shape
    images = GREY + NOISE * torch.randn(count, 3, side, side, generator=random)
    palette = torch.tensor(list(COLOURS.values()), dtype=torch.float32)
    grid = torch.arange(side) + 0.5
    for place in range(most):
        left, top, size = scenes.corners[:, place, :, None, None].unbind(dim=1)
        x, y = (grid - left) / size, (grid[:, None] - top) / size  # of the box: from 0 to 1
        inside = (x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)
        kinds = (
            (x - 0.5) ** 2 + (y - 0.5) ** 2 <= 0.25,
            inside,
            inside & ((x - 0.5).abs() <= y / 2),
        )
        shape = scenes.shapes[:, place, None, None]
        is_drawn = torch.zeros_like(inside)
        for kind, where in enumerate(kinds):
            is_drawn |= where & (shape == kind)
        colour = palette[scenes.colours[:, place]][:, :, None, None]
        images = torch.where(is_drawn[:, None], colour, images)
    return images.round().clamp(0, 255).to(torch.uint8)


def boxes_of(scenes: Scenes, side: int) -> Tensor:
    """The targets (N, M, 5)."""
    place, size = scenes.corners[..., :2].float(), scenes.corners[..., 2:].float()
    boxes = torch.cat((place + size / 2, size, size), dim=2) / side
    is_one = (scenes.shapes >= 0)[..., None]
    return torch.cat((scenes.shapes[..., None].float(), boxes * is_one), dim=2)


def load_shapes(config: ShapesConfig) -> Data:
    """The images of this seed, in which shapes are to be found."""
    random = stream(config, "shapes")
    objects = torch.randint(1, config.objects + 1, (config.n,), generator=random)
    scenes = draw_scenes(config.n, config.side, objects, random)
    pixels, targets = paint(scenes, config.side, random), boxes_of(scenes, config.side)
    parts = hold_out(
        config.n, val_size=config.val_size, test_size=config.test_size, seed=config.split_seed
    )
    scaling = measured_scaling(pixels[parts[0]])
    encoder = ImageEncoder(
        input_shape=(3, config.side, config.side),
        mode="RGB",
        target="boxes",
        num_outputs=len(SHAPES),
        class_names=SHAPES,
        mean=scaling.mean,
        scale=scaling.scale,
    )
    whole = PixelSplit(pixels=pixels, scaling=scaling, targets=targets)
    train, val, test = (whole.take(rows) for rows in parts)
    data = Data(
        name="shapes",
        spec=encoder.spec,
        train=train,
        val=val if len(val) else None,
        test=test if len(test) else None,
        preprocessor=encoder,
    )
    check_data(data)
    return data


def _touching(corners: Tensor, is_object: Tensor) -> Tensor:
    """Which images have two shapes whose boxes touch, (N, M, 3) -> (N,)."""
    place, size = corners[..., :2], corners[..., 2:]
    gap = (place[:, :, None] - (place + size)[:, None]).amax(dim=3)  # (N, M, M) of i after j
    is_apart = (gap > 0) | (gap.mT > 0)
    pairs = is_object[:, :, None] & is_object[:, None]
    pairs &= ~torch.eye(corners.shape[1], dtype=torch.bool)
    return (pairs & ~is_apart).flatten(1).any(dim=1)


SOURCE = Source(
    config=ShapesConfig,
    load=load_shapes,
    sentence="circles, squares and triangles in an image; which there are, and where",
    origin="drawn by formula",
    licence=LICENCE,
    inputs=("image",),
)
