"""Flips, crop, rotation, zoom and elastic: pixels move, by other numbers in every image.

Each is a rule of where a pixel of the new image comes from. Several in a row are put together as
rules, and the images are read once: as whole pixels where all of them move whole pixels, exactly,
and else between four pixels, with one loss of sharpness instead of several.

Shapes: B images (B, C, I, J); places as `Places` has them.
Source: Krizhevsky, Sutskever and Hinton (2012), section 4.1; Simard, Steinkraus and Platt (2003);
Ciresan, Giusti, Gambardella and Schmidhuber (2012); Ronneberger, Fischer and Brox (2015), section
3.1.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.data.augment.augmentation import Augmentation, uniform
from netwright.data.augment.places import Places, own_places, read_between, read_whole

GRID_POINTS = 3  # along each side of the grid that elastic pushes

Move = Callable[[Places, float, torch.Generator], Places]


@dataclass(frozen=True, kw_only=True)
class Warp(Augmentation):
    """Moves the pixels of an image.

    Args:
        move: places in the new images, strength, generator -> the places that they come from.
        is_whole: whether it moves whole pixels by whole pixels, rows and columns for themselves.
    """

    move: Move
    is_whole: bool = False

    def apply(
        self,
        images: Tensor,
        strength: float,
        generator: torch.Generator,
        out: Tensor | None = None,
    ) -> Tensor:
        """See `Augmentation.apply`."""
        return apply_warps(images, [(self, strength)], generator, out)


def apply_warps(
    images: Tensor,
    warps: Sequence[tuple[Warp, float]],
    generator: torch.Generator,
    out: Tensor | None = None,
) -> Tensor:
    """Images changed by warps one after the other, each with its strength, in one reading."""
    return read_warped(images, warps, draw_places(images, warps, generator), out)


def draw_places(
    images: Tensor, warps: Sequence[tuple[Warp, float]], generator: torch.Generator
) -> Places:
    """Where the pixels of images changed by warps one after the other come from."""
    places = own_places(images)
    for warp, strength in reversed(warps):  # what was changed last is undone first
        places = warp.move(places, strength, generator)
    return places


def read_warped(
    images: Tensor,
    warps: Sequence[tuple[Warp, float]],
    places: Places,
    out: Tensor | None = None,
) -> Tensor:
    """The pixels at the places that these warps gave."""
    if all(warp.is_whole for warp, _ in warps):
        return read_whole(images, places, out)
    return read_between(images, places)


def mirrored(places: Places, is_mirrored: Tensor) -> Places:
    """Left and right change sides where the number of an image is 1, not where it is 0."""
    columns = torch.addcmul(places.columns, places.columns, is_mirrored, value=-2)
    return Places(places.rows, columns)


def mirrored_down(places: Places, is_mirrored: Tensor) -> Places:
    """Above and below change sides where the number of an image is 1, not where it is 0."""
    return Places(torch.addcmul(places.rows, places.rows, is_mirrored, value=-2), places.columns)


def shifted(places: Places, down: Tensor, right: Tensor) -> Places:
    """Read further down and further right by so many pixels."""
    return Places(places.rows + down, places.columns + right)


def turned(places: Places, angle: Tensor) -> Places:
    """Images turned against the clock by an angle in radians."""
    cos, sin, (rows, columns) = angle.cos(), angle.sin(), places
    return Places(
        torch.addcmul(cos * rows, sin, columns), torch.addcmul(cos * columns, sin, rows, value=-1)
    )


def zoomed(places: Places, factor: Tensor) -> Places:
    """Images enlarged by a factor around their middle."""
    return Places(places.rows / factor, places.columns / factor)


def bent(places: Places, pushes: Tensor) -> Places:
    """Images bent like rubber: a coarse grid over them is pushed, what lies between follows.

    Args:
        places: where to read.
        pushes: down and right at the points of the grid, in pixels (B, 2, points, points).
    """
    count, tall, wide = len(places.rows), places.rows.shape[1], places.columns.shape[2]
    rows, columns = (place.expand(count, tall, wide) for place in places)
    # From -1 at one end of the grid to 1 at the other.
    grid = torch.stack([2 * columns / max(wide - 1, 1), 2 * rows / max(tall - 1, 1)], dim=3)
    down, right = F.grid_sample(
        pushes, grid, mode="bicubic", padding_mode="border", align_corners=True
    ).unbind(1)
    return Places(rows + down, columns + right)


def flip(places: Places, strength: float, generator: torch.Generator) -> Places:
    """Mirror with a probability."""
    return mirrored(places, _chosen(places, strength, generator))


def flip_vertical(places: Places, strength: float, generator: torch.Generator) -> Places:
    """Turn upside down with a probability."""
    return mirrored_down(places, _chosen(places, strength, generator))


def _chosen(places: Places, share: float, generator: torch.Generator) -> Tensor:
    """1 for about this share of the images, 0 for the others."""
    chosen = places.rows.new_empty(len(places.rows), 1, 1)
    return chosen.bernoulli_(share, generator=generator)


def crop(places: Places, strength: float, generator: torch.Generator) -> Places:
    """Shift by up to so many pixels, down or up and right or left."""
    most, shape, device = int(strength), (2, len(places.rows), 1, 1), places.rows.device
    down, right = torch.randint(-most, most + 1, shape, generator=generator, device=device)
    return shifted(places, down, right)


def rotation(places: Places, strength: float, generator: torch.Generator) -> Places:
    """Turn by up to so many degrees either way."""
    most = math.radians(strength)
    return turned(places, uniform(places.rows, -most, most, generator))


def zoom(places: Places, strength: float, generator: torch.Generator) -> Places:
    """Enlarge by a factor between 1 - strength and 1 + strength."""
    return zoomed(places, uniform(places.rows, 1 - strength, 1 + strength, generator))


def elastic(places: Places, strength: float, generator: torch.Generator) -> Places:
    """Push the points of a grid by normal numbers, measured by the shorter side."""
    side = min(places.rows.shape[1], places.columns.shape[2])
    pushes = places.rows.new_empty(len(places.rows), 2, GRID_POINTS, GRID_POINTS)
    return bent(places, pushes.normal_(std=strength * side, generator=generator))


_IMAGE = {
    "x": "an image (C, I, J); outside of it lies its nearest border pixel",
    "i, j": "row and column from the middle of the image",
}

FLIP = Warp(
    move=flip,
    is_whole=True,
    strength=0.5,
    most=1,
    card=Card(
        sentence="Some images are mirrored left to right; not suitable for letters and digits.",
        formula=r"x'_{ij} = x_{i, -j} \quad \text{with probability } s",
        symbols={**_IMAGE, "s": "the strength: the share of images that are mirrored"},
        source="Krizhevsky, Sutskever and Hinton (2012), NIPS 25, section 4.1",
    ),
)
FLIP_VERTICAL = Warp(
    move=flip_vertical,
    is_whole=True,
    strength=0.5,
    most=1,
    card=Card(
        sentence="Some images are mirrored top to bottom, for images without an upright "
        "orientation: cells, tissue, aerial views.",
        formula=r"x'_{ij} = x_{-i, j} \quad \text{with probability } s",
        symbols={**_IMAGE, "s": "the strength: the share of images that are mirrored"},
        source="Ciresan, Giusti, Gambardella and Schmidhuber (2012), NIPS 25, 2843-2851",
    ),
)
CROP = Warp(
    move=crop,
    is_whole=True,
    strength=2,
    in_pixels=True,
    card=Card(
        sentence="The image is padded and cropped back to its size at a random place, so its "
        "content shifts by a few pixels.",
        formula=r"x'_{ij} = x_{i + u, j + v} \qquad u, v \sim U\{-s, ..., s\}",
        symbols={
            **_IMAGE,
            "u, v": "the shift of one image",
            "s": "the strength: the width of the border in pixels",
        },
        source="He, Zhang, Ren and Sun (2016), CVPR, 770-778, section 4.2",
    ),
)
ROTATION = Warp(
    move=rotation,
    strength=10,
    most=180,
    card=Card(
        sentence="The image is rotated about its centre, counterclockwise for positive angles, "
        "with bilinear interpolation.",
        formula=r"x'_{ij} = x_{i \cos a + j \sin a, \; j \cos a - i \sin a} "
        r"\qquad a \sim U(-s, s)",
        symbols={**_IMAGE, "a": "the angle of one image", "s": "the strength: in degrees"},
        source="Simard, Steinkraus and Platt (2003), ICDAR 7, 958-963",
    ),
)
ZOOM = Warp(
    move=zoom,
    strength=0.2,
    most=0.9,
    card=Card(
        sentence="The image is scaled about its centre, with bilinear interpolation.",
        formula=r"x'_{ij} = x_{i / z, j / z} \qquad z \sim U(1 - s, 1 + s)",
        symbols={**_IMAGE, "z": "the factor of one image", "s": "the strength"},
        source="Simard, Steinkraus and Platt (2003), ICDAR 7, 958-963",
    ),
)
ELASTIC = Warp(
    move=elastic,
    strength=0.02,
    most=0.2,
    card=Card(
        sentence="Elastic deformation: nine control points are displaced at random, and the image "
        "between them is interpolated smoothly.",
        formula=r"x'_{ij} = x_{i + u(i, j), \; j + v(i, j)} \qquad "
        r"u, v \sim N(0, (s n)^2) \text{ at the points of a grid}",
        symbols={
            **_IMAGE,
            "u, v": "pushes at the points of a 3 by 3 grid, bicubic between them",
            "n": "the shorter side of the image in pixels",
            "s": "the strength: 0.02 moves pixels of an image of 512 by about 10",
        },
        source="Ronneberger, Fischer and Brox (2015), MICCAI, 234-241, section 3.1; "
        "Simard, Steinkraus and Platt (2003), ICDAR 7, 958-963",
    ),
)
