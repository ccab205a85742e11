"""A model of small images: its answers to some, and its layers on one that is looked at.

Shapes: C channels, I/J image height and width, N images that are shown beside the one looked at,
K classes, U units of a layer, g cells along each side of a unit's picture.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.errors import ConfigError
from netwright.core.evaluation import evaluating
from netwright.data.dataset import Split
from netwright.data.loading.stored import evenly_spaced
from netwright.inspection.inside.dense_units import UnitLayer, measure_units
from netwright.inspection.inside.feature_maps import convolved_maps
from netwright.recipes.fitting.prepared import Prepared
from netwright.recipes.playground.picture import (
    MOST_UNITS,
    Bytes,
    Picture,
    around_zero,
    in_shades,
    line_weights,
    shown_layers,
)

MOST_SIDE = 32
MOST_IMAGES = 40  # beside the one that is looked at
UNIT_CELLS = 16


class ImageStage:
    """Some images of the data, of which one is looked at, or one that somebody draws.

    Args:
        prepared: a model of images of up to 32 x 32 pixels.
    """

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        data = prepared.data
        held = _some(data.val, MOST_IMAGES)
        learned = _some(data.train, MOST_IMAGES - len(held[1]))
        self.held = len(held[1])
        self.images = torch.cat([held[0], learned[0]])  # (N, C, I, J)
        self.targets = torch.cat([held[1], learned[1]])
        # What is black and what is white, of each channel.
        self.low = self.images.amin(dim=(0, 2, 3), keepdim=True)
        self.high = self.images.amax(dim=(0, 2, 3), keepdim=True)
        self.looked_at = self.images[:1]

    def look_at(self, pixels: Sequence[int]) -> None:
        """Look at an image of one's own.

        Args:
            pixels: C I J of them in this order, each 0, black, to 255, white.
        """
        shape = self.images.shape[1:]
        wanted = f"an image must be {shape.numel()} whole numbers from 0 to 255"
        if len(pixels) != shape.numel():
            raise ConfigError(f"{wanted}, got {len(pixels)} of them")
        for place, one in enumerate(pixels):
            if type(one) is not int or not 0 <= one <= 255:
                raise ConfigError(f"{wanted}, got {one!r:.40} at place {place}")
        share = torch.tensor(pixels).view(1, *shape) / 255
        self.looked_at = self.low + (self.high - self.low) * share

    def opening(self) -> Picture:
        """The images, and what the classes are called."""
        data = self.prepared.data
        shades = in_shades(
            ((self.images - self.low) / (self.high - self.low).clamp_min(1e-12)).numpy(), 0.0, 1.0
        )
        told = {
            "stage": "image",
            "target": data.spec.target,
            "classes": list(data.spec.class_names),
            "features": ["the image"],
            "shape": list(self.images.shape[1:]),
            "held": self.held,  # of them, the first, are not learned from
            "targets": self.targets.tolist(),
            "notes": list(data.notes),
        }
        return Picture(numbers=told, arrays={"images": shades})

    def draw(self, *, with_units: bool = True) -> Picture:
        """What it says of all of them now, and what the units make of the one that is looked at."""
        prepared = self.prepared
        inputs = torch.cat([self.looked_at, self.images])
        with np.errstate(invalid="ignore"):  # weights that are no numbers any more
            if not with_units:
                with evaluating(prepared.model):
                    output = prepared.model(inputs)
                return self._answered(output)
            output, dense = measure_units(prepared.model, inputs)
            maps = convolved_maps(prepared.model, self.looked_at)
            convolutions = shown_layers([(path, one) for path, one in maps if one.ndim == 3])
            dense = list(shown_layers(dense))
            told = [{"path": path, "units": len(one)} for path, one in convolutions]
            more, arrays = line_weights(dense, inputs=0, first=len(told))
            answered = self._answered(output)
            arrays["inputs"] = _pictures(self.looked_at.mean(dim=1))
            parts = [_pictures(one[:MOST_UNITS]) for _, one in convolutions]
            parts += [
                self._units(layer, reads_pixels=not convolutions and place == 0)
                for place, layer in enumerate(dense)
            ]
            if parts:
                arrays["units"] = np.concatenate(parts)
        return Picture(
            numbers={"layers": told + more, **answered.numbers},
            arrays={**arrays, **answered.arrays},
        )

    def _answered(self, output: Any) -> Picture:
        """The probability of each class, (N + 1, K): of what is looked at, then of all images.

        In 256 shades two classes may be alike: which one an image is taken for is said beside
        them; None where its answer is not finite.
        """
        answers = self.prepared.task.predictions(output)
        is_finite = answers.isfinite().all(dim=1)
        told = zip(answers.argmax(dim=1).tolist(), is_finite.tolist(), strict=True)
        return Picture(
            numbers={"taken": [kind if finite else None for kind, finite in told]},
            arrays={"answers": in_shades(answers.numpy(), 0.0, 1.0)},
        )

    def _units(self, layer: UnitLayer, *, reads_pixels: bool) -> Bytes:
        """Of units that read pixels their weights, of others what they answer, (U, g, g)."""
        channels, high, wide = self.images.shape[1:]
        if reads_pixels and layer.weights.shape[1] == channels * high * wide:
            weights = layer.weights[:MOST_UNITS].view(-1, channels, high, wide)
            return _pictures(weights.mean(dim=1))
        answers = layer.answers[:1, :MOST_UNITS]  # one row: the image that is looked at
        return np.broadcast_to(
            around_zero(answers.numpy(), axis=1).T[:, :, None],
            (answers.shape[1], UNIT_CELLS, UNIT_CELLS),
        )


def _some(split: Split | None, most: int) -> tuple[Tensor, Tensor]:
    """Some of its images (N, C, I, J) and their classes (N,)."""
    if split is None:
        return torch.empty(0), torch.empty(0, dtype=torch.long)
    rows = evenly_spaced(len(split), min(len(split), most))
    images: Tensor = split.read(rows)
    return images.float(), split.targets[rows]


def _pictures(maps: Tensor) -> Bytes:
    """Maps (U, I, J) of any size as pictures (U, g, g), each in shades of its own."""
    square = F.interpolate(maps[:, None], size=(UNIT_CELLS, UNIT_CELLS), mode="nearest-exact")
    shown = square.flatten(1).numpy()
    return around_zero(shown, axis=1).reshape(-1, UNIT_CELLS, UNIT_CELLS)
