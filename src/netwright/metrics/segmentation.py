r"""How well masks agree: one table of counts an image, and formulas that read it.

    IoU_k  = n_kk / (t_k + s_k - n_kk)        t_k pixels are of class k, s_k were called so
    Dice_k = 2 n_kk / (t_k + s_k)             = 2 IoU_k / (1 + IoU_k)

Tables add: the measure of a data set is that of the sum of its images' tables, so nothing larger
is ever kept of an image than (C, C) numbers.

Shapes: N images, C classes, I rows, J columns; a mask is (I, J), a table (C, C), row = true class,
column = what it was called.
Source: Jaccard (1912), "The distribution of the flora in the alpine zone"; Dice (1945), "Measures
of the amount of ecologic association between species".
"""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.core.errors import DataError
from netwright.metrics.classification import accuracy
from netwright.metrics.samples import check_not_empty, exact_dtype, weighted_mean


def mask_tables(targets: Tensor, predicted: Tensor, num_classes: int) -> Tensor:
    """Count the pixels of each class that were called each class, (N, C, C) float32.

    A product of zeros and ones: exact up to 2^24 pixels an image, and nothing waits for the device.

    Args:
        targets: the true masks (N, I, J), whole numbers.
        predicted: what was said (N, I, J).
        num_classes: C.
    """
    classes = torch.arange(num_classes, device=targets.device)[:, None]
    true, said = (
        (masks.flatten(1)[:, None] == classes).float() for masks in (targets, predicted)
    )  # (N, C, I J) each
    return true @ said.mT


def class_iou(table: Tensor) -> Tensor:
    """What truth and answer have in common, of what either has; (C,), NaN where neither has any."""
    hits, either = _hits_and_sizes(table)
    return hits / (either - hits)


def class_dice(table: Tensor) -> Tensor:
    """What truth and answer have in common, of their mean size; (C,), NaN where neither has any."""
    hits, both = _hits_and_sizes(table)
    return 2 * hits / both


def mean_iou(table: Tensor) -> float:
    """The mean over the classes that occur in truth or answer."""
    return class_iou(table).nanmean().item()


def dice(table: Tensor) -> float:
    """The mean over the classes that occur in truth or answer."""
    return class_dice(table).nanmean().item()


# Name -> formula of the table of all pixels.
MASK_FORMULAS: Mapping[str, Callable[[Tensor], float]] = MappingProxyType(
    {"dice": dice, "mean_iou": mean_iou, "pixel_accuracy": accuracy}
)


def measure_masks(
    tables: Tensor, class_names: Sequence[str], weights: Tensor | None = None
) -> dict[str, float]:
    """Every measure of all images together, then IoU and Dice of each class that occurs.

    Args:
        tables: (N, C, C), as `mask_tables` gives them.
        class_names: C names; the Dice of a class is "dice/name".
        weights: how much each image counts, (N,).
    """
    table = weighted_mean(tables, weights)
    values = {name: formula(table) for name, formula in MASK_FORMULAS.items()}
    for kind, of_class in (("iou", class_iou(table)), ("dice", class_dice(table))):
        values |= {
            f"{kind}/{name}": value
            for name, value in zip(class_names, of_class.tolist(), strict=True)
            if not math.isnan(value)  # it occurs
        }
    return values


class Threshold(NamedTuple):
    """One grey level for all images, which tells a class from the rest.

    Args:
        level: pixels of the class are at most this dark, or at least this light.
        is_dark: whether the class is the darker side.
        dice: of the class, on the images that it was chosen on.
    """

    level: float
    is_dark: bool
    dice: float

    def mark(self, images: Tensor) -> Tensor:
        """Where the class is said to be; bool, of the same shape."""
        return images <= self.level if self.is_dark else images >= self.level


def best_threshold(images: Tensor, is_class: Tensor) -> Threshold:
    """The level and the side of it with the best Dice: what a network has to beat.

    Every level that occurs is tried on both sides: exact, and quick for bytes.

    Args:
        images: grey levels (N, I, J), any real dtype.
        is_class: where the class is, bool (N, I, J).
    """
    check_shape("is_class", is_class, *images.shape)
    check_not_empty("images", images)
    if not bool(is_class.any()):
        raise DataError("there is no pixel of the class to choose a threshold from")
    levels, places = torch.unique(images, return_inverse=True)  # (L,), lowest first
    exact = exact_dtype(images.device)
    sizes = torch.bincount(places.flatten(), minlength=len(levels)).to(exact)
    hits = torch.bincount(places[is_class], minlength=len(levels)).to(exact)
    best = []
    for is_dark in (True, False):
        marked, found = (
            counts.cumsum(0) if is_dark else counts.flip(0).cumsum(0).flip(0)
            for counts in (sizes, hits)
        )
        value, place = (2 * found / (marked + hits.sum())).max(dim=0)
        best.append(Threshold(levels[place].item(), is_dark, value.item()))
    return max(best, key=lambda threshold: threshold.dice)


def _hits_and_sizes(table: Tensor) -> tuple[Tensor, Tensor]:
    """Pixels that are right, and true plus called pixels, of each class (C,)."""
    counts = table.detach().to(exact_dtype(table.device))
    return counts.diagonal(), counts.sum(dim=0) + counts.sum(dim=1)
