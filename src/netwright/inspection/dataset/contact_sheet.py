"""A contact sheet: what augmentations make of one image, before a run is spent on it.

One row an augmentation, the image itself first, then fresh draws; where several are asked for, the
last row shows all of them together, which is what a network is given. All pictures share one scale
from black to white, so that a change of brightness is seen as one.

Shapes: N images (N, C, I, J).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.checks import check_positive, check_shape
from netwright.core.errors import ConfigError
from netwright.data.augment.pipeline import parse_augmentations
from netwright.data.loading.loader import Batch
from netwright.data.spec import DataSpec
from netwright.inspection.drawing.pictures import MOST_PIXELS
from netwright.inspection.drawing.view import View
from netwright.metrics.samples import check_not_empty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIDE = 0.9  # inches of a picture
NAMES = 1.5  # inches for the names on the left
HEAD = 0.3  # inches above the pictures
GAP = 0.06  # between pictures, as a share of one

Levels = tuple[tuple[tuple[int, ...], ...], ...]  # (I, J, C), from 0 to 255


@dataclass(frozen=True, kw_only=True)
class Strip:
    """A row of the sheet.

    Args:
        name: the augmentation as it was asked for, "rotation=10".
        pictures: the image itself, then its changed forms.
    """

    name: str
    pictures: tuple[Levels, ...]


@dataclass(frozen=True, kw_only=True)
class ContactSheet(View):
    """Augmentations side by side.

    Args:
        strips: one an augmentation.
        num_channels: of the images.
    """

    title: ClassVar[str] = "Augmentations"

    strips: tuple[Strip, ...]
    num_channels: int

    @property
    def size(self) -> tuple[float, float]:
        """A place for each picture."""
        tall, wide = np.shape(self.strips[0].pictures[0])[:2]
        columns, rows = len(self.strips[0].pictures), len(self.strips)
        return (NAMES + SIDE * columns, HEAD + SIDE * rows * tall / wide)

    @property
    def caption(self) -> str:
        """How to read it."""
        draws = len(self.strips[0].pictures) - 1
        return (
            f"What augmentation makes of one image: the image itself, then {draws} fresh draws. "
            f"All pictures have one scale from black to white.{self._channels}"
        )

    @property
    def _channels(self) -> str:
        """What is shown of images that are neither grey nor colour."""
        if self.num_channels in (1, 3):
            return ""
        if self.num_channels == 4:
            return " Of 4 channels the first three are shown, as colours."
        return f" Of {self.num_channels} channels the mean is shown."

    def draw(self, figure: "Figure") -> None:
        """One set of axes holds all pictures: a set for each would take ten times as long."""
        axes = figure.subplots()
        tall, wide = np.shape(self.strips[0].pictures[0])[:2]
        height = tall / wide
        for row, strip in enumerate(self.strips):
            for column, levels in enumerate(strip.pictures):
                grid = np.array(levels, dtype=np.uint8)
                axes.imshow(
                    grid if grid.shape[2] == 3 else grid[..., 0],
                    extent=(column, column + 1 - GAP, (row + 1) * height - GAP, row * height),
                    cmap="gray",
                    vmin=0,
                    vmax=255,
                    interpolation="none",
                )
            axes.text(-0.1, (row + 0.5) * height - GAP / 2, strip.name, ha="right", va="center")
        columns = len(self.strips[0].pictures)
        axes.text(0.5, -0.08, "original", ha="center", va="bottom")
        axes.text((columns + 1) / 2, -0.08, "fresh draws", ha="center", va="bottom")
        axes.set(
            xlim=(-NAMES / SIDE, columns),
            ylim=(len(self.strips) * height, -HEAD / SIDE),
            aspect="equal",
        )
        axes.set_axis_off()


def measure_contact_sheet(
    images: Tensor,
    specs: Sequence[str],
    spec: DataSpec,
    *,
    count: int = 6,
    seed: int = 0,
    decode: tuple[Tensor, Tensor] | None = None,
) -> ContactSheet:
    """The first image under each augmentation; the others are what it is mixed with.

    Args:
        images: (N, C, I, J), encoded as for training.
        specs: "name" or "name=strength" each, as in the settings of a run.
        spec: what the data is.
        count: fresh draws of each.
        seed: of the draws.
        decode: offset and scale of every number of an image (F,), so that it is shown as it came.
    """
    check_shape("images", images, "N", *spec.input_shape)
    check_not_empty("images", images)
    check_positive("count", count)
    if not specs:
        raise ConfigError("a contact sheet needs at least one augmentation, got none")
    images = torch.cat([images[:1].expand(count, -1, -1, -1), images[1:]])
    targets = torch.zeros(len(images), dtype=torch.int64, device=images.device)
    batch = Batch(images, targets, None, torch.arange(len(images), device=images.device))
    shown = _shown_channels(_decoded(images, decode))
    original, (low, high) = shown[:1], (float(end) for end in shown.aminmax())
    rows = [(text, [text]) for text in specs]
    if len(specs) > 1:
        rows.append(("all together", list(specs)))
    strips = []
    for name, chosen in rows:
        drawn = parse_augmentations(chosen, spec)(batch, seed, 0, 0).inputs[:count]
        pictures = torch.cat([original, _shown_channels(_decoded(drawn, decode))])
        strips.append(Strip(name=name, pictures=_levels(pictures, low, high)))
    return ContactSheet(strips=tuple(strips), num_channels=images.shape[1])


def _decoded(images: Tensor, decode: tuple[Tensor, Tensor] | None) -> Tensor:
    if decode is None:
        return images
    offset, scale = (part.to(images) for part in decode)
    return (images.flatten(1) * scale + offset).reshape(images.shape)


def _shown_channels(images: Tensor) -> Tensor:
    """Grey and colour as they are; of four channels three, as the fourth is not light."""
    if images.shape[1] in (1, 3):
        return images
    return images[:, :3] if images.shape[1] == 4 else images.mean(dim=1, keepdim=True)


def _levels(images: Tensor, low: float, high: float) -> tuple[Levels, ...]:
    """Pictures on the scale from low to high; large ones are shown smaller."""
    sides = images.shape[2:]
    if max(sides) > MOST_PIXELS:
        tall, wide = (max(round(MOST_PIXELS / max(sides) * side), 1) for side in sides)
        images = F.adaptive_avg_pool2d(images, (tall, wide))
    scaled = (images - low) / (high - low if high > low else 1.0)
    levels = (scaled.clamp(0, 1) * 255).round().long().permute(0, 2, 3, 1).tolist()
    return tuple(
        tuple(tuple(tuple(pixel) for pixel in row) for row in picture) for picture in levels
    )
