"""Augmentations one after the other, as a run asks for them: ("flip", "crop=4", "mixup=0.2").

What a batch becomes is a pure function of the seed, the epoch and the batch's place in the epoch:
fresh in every epoch, and the same again in a run that was stopped and goes on. Nothing is saved.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.core.seeding import derive_seed
from netwright.data.augment.augmentation import Augmentation, Retouch
from netwright.data.augment.catalog import AUGMENTATIONS
from netwright.data.augment.geometric import Warp, draw_places, read_warped
from netwright.data.augment.mixing import Mixing
from netwright.data.augment.one_pass import changed_in_one_pass, is_one_pass
from netwright.data.augment.places import read_nearest
from netwright.data.augment.scratch import Scratch
from netwright.data.loading.loader import Batch
from netwright.data.spec import DataSpec


class Step(NamedTuple):
    """An augmentation and how strong it is."""

    augmentation: Augmentation
    strength: float


@dataclass(frozen=True)
class Pipeline:
    """Changes batches; neighbouring warps (flip, crop, rotation, zoom) read the images once.

    Masks (B, I, J) are moved as their images are; all else happens to the images alone.

    Args:
        steps: in the order in which they are done.
        num_classes: of the targets, for those that mix them.
    """

    steps: tuple[Step, ...]
    num_classes: int

    def __call__(
        self,
        batch: Batch,
        seed: int,
        epoch: int,
        position: int,
        scratch: Scratch | None = None,
        *,
        channels_last: bool = False,
    ) -> Batch:
        """The batch as it is learned from: inputs of the same shape, targets that fit them.

        Args:
            batch: it stays as it is.
            seed: of the run.
            epoch: passes made before this one.
            position: the batch's place in the pass.
            scratch: where the new inputs may lie, until the next call with it; None: fresh memory.
            channels_last: the channels of a pixel may lie side by side afterwards.
        """
        stream = torch.Generator(batch.inputs.device)
        stream.manual_seed(derive_seed(seed, "augment", epoch, position))
        if channels_last and batch.targets.ndim < 3 and is_one_pass(self.steps, batch.inputs):
            return batch._replace(inputs=changed_in_one_pass(batch.inputs, self.steps, stream))
        for _, steps in groupby(self.steps, lambda step: isinstance(step.augmentation, Warp)):
            batch = self._changed(batch, list(steps), stream, scratch)
        return batch

    def _changed(
        self, batch: Batch, steps: list[Step], stream: torch.Generator, scratch: Scratch | None
    ) -> Batch:
        """The batch after steps that are all warps, or none of which is one."""
        warps = [(kind, strength) for kind, strength in steps if isinstance(kind, Warp)]
        if warps:
            out = None if scratch is None else scratch.beside(batch.inputs)
            places = draw_places(batch.inputs, warps, stream)
            if batch.targets.ndim == 3:
                batch = batch._replace(targets=read_nearest(batch.targets, places))
            return batch._replace(inputs=read_warped(batch.inputs, warps, places, out))
        for augmentation, strength in steps:
            out = None if scratch is None else _room(scratch, batch.inputs, augmentation)
            if isinstance(augmentation, Mixing):
                batch = augmentation.mix(batch, strength, stream, self.num_classes, out)
            else:
                changed = augmentation.apply(batch.inputs, strength, stream, out)
                batch = batch._replace(inputs=changed)
        return batch


def _room(scratch: Scratch, images: Tensor, augmentation: Augmentation) -> Tensor:
    """Where a change writes: over what is here already, if it can, else beside it."""
    over = augmentation.in_place and scratch.holds(images)
    return images if over else scratch.beside(images)


def parse_augmentations(specs: Sequence[str], spec: DataSpec) -> Pipeline:
    """The pipeline that names and strengths ask for; refused where the data does not allow it.

    Args:
        specs: "name" or "name=strength" each.
        spec: what the data is.
    """
    if spec.inputs != "image" or len(spec.input_shape) != 3:
        raise DataError(f"augmentation is for images (C, I, J), got {_described(spec)}")
    named = [_step(text, spec) for text in specs]
    names = [name for name, _ in named]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"augmentation {name!r} must be given once, got {list(specs)}")
    if sum(isinstance(step.augmentation, Mixing) for _, step in named) > 1:
        raise ConfigError(f"examples are mixed in one way, by mixup or cutmix, got {list(specs)}")
    return Pipeline(tuple(step for _, step in named), spec.num_outputs)


def _described(spec: DataSpec) -> str:
    shape = ", ".join(str(size) for size in spec.input_shape)
    return f"{spec.inputs} ({shape})"


def _step(text: str, spec: DataSpec) -> tuple[str, Step]:
    name, equals, number = (part.strip() for part in text.partition("="))
    augmentation = AUGMENTATIONS.load(name)
    if isinstance(augmentation, Mixing) and spec.target != "class":
        raise DataError(f"augmentation {name!r} mixes classes, got targets of kind {spec.target!r}")
    if spec.target == "boxes" and not isinstance(augmentation, Retouch):
        raise DataError(f"augmentation {name!r} moves pixels, and would not move their boxes")
    try:
        strength = float(number) if equals else augmentation.strength
    except ValueError:
        raise ConfigError(
            f"augmentation must be 'name' or 'name=strength', as 'crop=4', got {text!r}"
        ) from None
    augmentation.check(name, strength, spec.input_shape)
    return name, Step(augmentation, strength)
