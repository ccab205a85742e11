"""Masks over their images: what is true, what was said, and where the two differ.

The commonest class is left as it is, the next ones have a colour each, and all others share one.
Images are shown from the one with the most wrong pixels to the one with the fewest.

Shapes: N images (N, channels, I, J), C classes, masks (N, I, J).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from netwright.core.checks import check_positive, check_shape
from netwright.inspection.drawing.figure_style import COLOURS
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import legend_name, percent, quoted
from netwright.metrics.samples import check_classes, check_not_empty
from netwright.metrics.segmentation import class_dice, mask_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PIXELS = 160  # along the longer side; larger images are shown smaller
MOST_NAMED = 8  # classes whose overlap the caption tells
PANEL, MARGIN, LEGEND = 2.0, 0.6, 0.75  # inches: a picture's width, words on the left, and below
LEAST_HEIGHT = 1.0  # inches of a row: its words stand upright
CHUNK = 8  # images whose pixels are counted together
COLOUR_SHARE = 0.55  # of a coloured pixel, the rest is the image
HEADINGS = ("image", "truth", "prediction", "disagreement")
# What can be wrong with a pixel, where the commonest class is taken for nothing being there.
MISSED, INVENTED, MIXED_UP = COLOURS[1], COLOURS[5], COLOURS[3]
CLASS_COLOURS = tuple(COLOURS[place] for place in (0, 2, 4, 6, 8, 9))
OTHERS = COLOURS[7]  # a grey for all classes that have no colour of their own


@dataclass(frozen=True, kw_only=True)
class SegmentedImage:
    """One image with its two masks.

    Args:
        row: its place in the split, from 0.
        wrong: the share of its pixels that are wrong.
        picture: (I, J, 3) bytes.
        truth: the class of each pixel (I, J).
        said: the likeliest class of each pixel (I, J).
    """

    row: int
    wrong: float
    picture: NDArray[np.uint8]
    truth: NDArray[np.uint8]
    said: NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class SegmentationOverlay(View):
    """Images, true masks, predicted masks and their disagreement.

    Args:
        class_names: C of them.
        background: the commonest class, which stays uncoloured.
        dice: of each class over all images; None where it occurs in no mask.
        num_images: that were looked at.
        images: those that are shown.
        is_sample: whether those that were looked at are a sample of the split.
    """

    title: ClassVar[str] = "Segmentation"

    class_names: tuple[str, ...]
    background: int
    dice: tuple[float | None, ...]
    num_images: int
    images: tuple[SegmentedImage, ...]
    is_sample: bool = False

    @property
    def size(self) -> tuple[float, float]:
        """A place for each picture."""
        tall, wide = self.images[0].truth.shape
        return (
            MARGIN + len(HEADINGS) * PANEL,
            LEGEND + len(self.images) * max(PANEL * tall / wide, LEAST_HEIGHT),
        )

    @property
    def caption(self) -> str:
        """The overlap of each class, and how to read the pictures."""
        named = zip(self.class_names, self.dice, strict=True)
        overlaps = [f"{quoted(name)} {value:.3f}" for name, value in named if value is not None]
        rest = f" and {len(overlaps) - MOST_NAMED} more" if len(overlaps) > MOST_NAMED else ""
        sample = ", a sample of the split" if self.is_sample else ""
        return (
            f"Dice over {self.num_images:,} images{sample}: "
            f"{', '.join(overlaps[:MOST_NAMED])}{rest}. "
            f"Shown: {len(self.images)}, most wrong pixels first; "
            f"{quoted(self.class_names[self.background])}, the commonest class, is not coloured. "
            "From left to right: the image, the true mask, the predicted mask, and the pixels that "
            "differ, missed where only the truth has a class, invented where only the prediction "
            "has one."
        )

    def to_json(self) -> dict[str, Any]:
        """The numbers without the pixels."""
        return {
            "class_names": list(self.class_names),
            "background": self.background,
            "dice": list(self.dice),
            "num_images": self.num_images,
            "is_sample": self.is_sample,
            "images": [{"row": image.row, "wrong": image.wrong} for image in self.images],
        }

    def draw(self, figure: "Figure") -> None:
        """A row an image: itself, both masks over it, and the wrong pixels."""
        panels = figure.subplots(len(self.images), len(HEADINGS), squeeze=False)
        for row, image in zip(panels, self.images, strict=True):
            pictures = (
                image.picture,
                self._coloured(image.picture, image.truth),
                self._coloured(image.picture, image.said),
                self._disagreement(image),
            )
            for axes, picture in zip(row, pictures, strict=True):
                axes.imshow(picture, interpolation="none")
                axes.set(xticks=[], yticks=[])
                axes.grid(visible=False)
                axes.spines[:].set_visible(False)
            row[0].set_ylabel(f"row {image.row}\n{percent(image.wrong)} wrong", fontsize=9)
        for axes, heading in zip(panels[0], HEADINGS, strict=True):
            axes.set_title(heading, fontsize=10, loc="center")
        self._draw_legend(figure)

    @cached_property
    def _drawn(self) -> list[int]:
        """The classes on the pictures that are coloured, the commonest first."""
        masks = [mask.ravel() for image in self.images for mask in (image.truth, image.said)]
        counts = np.bincount(np.concatenate(masks))
        order = np.argsort(-counts, kind="stable")
        return [int(one) for one in order if counts[one] and one != self.background]

    @property
    def _colours(self) -> dict[int, str]:
        """Class -> its own colour: as many of the commonest as there are colours."""
        return dict(zip(sorted(self._drawn[: len(CLASS_COLOURS)]), CLASS_COLOURS, strict=False))

    def _draw_legend(self, figure: "Figure") -> None:
        """Classes that are coloured, then the kinds of mistakes."""
        from matplotlib.patches import Patch  # noqa: PLC0415 - it costs a second

        named = self._colours
        entries = [(legend_name(self.class_names[index]), named[index]) for index in sorted(named)]
        others = len(self._drawn) - len(named)
        if others:
            entries.append((f"{others} other class{'' if others == 1 else 'es'}", OTHERS))
        entries += [("missed", MISSED), ("invented", INVENTED)]
        if len(self._drawn) > 1:  # one coloured class cannot be taken for another
            entries.append(("mixed up", MIXED_UP))
        figure.legend(
            handles=[Patch(color=colour, label=name) for name, colour in entries],
            loc="outside lower center",
            ncols=min(len(entries), 6),
            fontsize=9,
        )

    def _coloured(self, picture: NDArray[np.uint8], mask: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The picture with its mask over it, (I, J, 3) from 0 to 1."""
        shown = picture / 255
        for index in np.unique(mask):
            if index != self.background:
                where, colour = mask == index, _rgb(self._colours.get(int(index), OTHERS))
                shown[where] = (1 - COLOUR_SHARE) * shown[where] + COLOUR_SHARE * colour
        return shown

    def _disagreement(self, image: SegmentedImage) -> NDArray[np.float64]:
        """A faint picture with the wrong pixels in the colours of what is wrong with them."""
        shown = 0.5 + image.picture / 510
        wrong = image.truth != image.said
        shown[wrong] = _rgb(MIXED_UP)
        shown[wrong & (image.said == self.background)] = _rgb(MISSED)
        shown[wrong & (image.truth == self.background)] = _rgb(INVENTED)
        return shown


def measure_segmentation(
    images: Tensor,
    targets: Tensor,
    said: Tensor,
    class_names: Sequence[str],
    *,
    count: int = 3,
    rows: Tensor | None = None,
) -> SegmentationOverlay:
    """Lay masks over images: the worst, the best, and some between.

    Args:
        images: (N, channels, I, J), encoded as for training.
        targets: true masks (N, I, J), whole numbers.
        said: predicted masks (N, I, J), whole numbers.
        class_names: C names.
        count: images that are shown, at most.
        rows: the places in the split (N,) where the images are a sample of it.
    """
    check_positive("count", count)
    check_shape("targets", targets, "N", "I", "J")
    check_not_empty("targets", targets)
    check_shape("said", said, *targets.shape)
    check_shape("images", images, len(targets), "channels", *targets.shape[1:])
    for name, masks in (("targets", targets), ("said", said)):
        check_classes(name, torch.stack(masks.aminmax()).long(), len(class_names))
    pairs = zip(torch.split(targets, CHUNK), torch.split(said, CHUNK), strict=True)
    tables = torch.cat([mask_tables(*pair, len(class_names)).cpu() for pair in pairs])
    table = tables.double().sum(dim=0)
    wrong = 1 - tables.diagonal(dim1=1, dim2=2).sum(dim=1) / targets[0].numel()  # (N,)
    order = wrong.argsort(descending=True, stable=True)
    places = torch.linspace(0, len(order) - 1, min(count, len(order))).round().long()
    return SegmentationOverlay(
        class_names=tuple(class_names),
        background=int(table.sum(dim=1).argmax()),
        dice=tuple(None if math.isnan(value) else value for value in class_dice(table).tolist()),
        num_images=len(images),
        images=tuple(
            SegmentedImage(
                row=place if rows is None else int(rows[place]),
                wrong=float(wrong[place]),
                picture=_picture(images[place]),
                truth=_small_mask(targets[place]),
                said=_small_mask(said[place]),
            )
            for place in order[places].tolist()
        ),
        is_sample=rows is not None,
    )


def _shown_sides(tall: int, wide: int) -> tuple[int, int]:
    shrink = min(MOST_PIXELS / max(tall, wide), 1.0)
    return max(round(shrink * tall), 1), max(round(shrink * wide), 1)


def _picture(image: Tensor) -> NDArray[np.uint8]:
    """An image (channels, I, J) from its darkest to its lightest value, as colours."""
    small = F.adaptive_avg_pool2d(image.detach().cpu().double(), _shown_sides(*image.shape[1:]))
    colours = small if len(small) == 3 else small.mean(dim=0, keepdim=True).expand(3, -1, -1)
    low, high = colours.aminmax()
    levels = (colours - low) / (high - low if high > low else 1.0) * 255
    return levels.round().to(torch.uint8).permute(1, 2, 0).numpy()


def _small_mask(mask: Tensor) -> NDArray[np.uint8]:
    """A mask (I, J) by its nearest pixels."""
    grid = mask.detach().cpu().float()[None, None]
    small = F.interpolate(grid, _shown_sides(*mask.shape), mode="nearest-exact")
    return small[0, 0].to(torch.uint8).numpy()


def _rgb(colour: str) -> NDArray[np.float64]:
    """A colour "#rrggbb" as three shares."""
    return np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
