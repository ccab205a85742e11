"""Pipelines: read from text, refused in one sentence, the same for the same place of a run."""

from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError, DataError, UnknownNameError
from netwright.core.seeding import derive_seed
from netwright.data.augment.catalog import AUGMENTATIONS
from netwright.data.augment.geometric import apply_warps
from netwright.data.augment.pipeline import Pipeline, parse_augmentations
from netwright.data.augment.scratch import Scratch
from netwright.data.loading.loader import Batch
from netwright.data.spec import DataSpec
from tests.repetition import for_each

COLOUR: dict[str, Any] = {"inputs": "image", "input_shape": (3, 8, 8), "target": "class"}
SPEC = DataSpec(**COLOUR, num_outputs=5)
LABEL_KEEPING = ["crop=2", "flip", "colour-jitter=0.4", "cutout=3", "noise=0.1"]


def batch(count: int = 12) -> Batch:
    stream = torch.Generator().manual_seed(0)
    images = torch.rand(count, 3, 8, 8, generator=stream)
    return Batch(images, torch.arange(count) % 5, None, torch.arange(count))


def strengths(pipeline: Pipeline) -> list[float]:
    return [strength for _, strength in pipeline.steps]


def test_names_and_strengths_are_read() -> None:
    pipeline = parse_augmentations(["flip", "crop=4", " rotation = 15 ", "mixup=1e-1"], SPEC)
    wanted = [AUGMENTATIONS.load(name) for name in ("flip", "crop", "rotation", "mixup")]
    assert [augmentation for augmentation, _ in pipeline.steps] == wanted
    assert strengths(pipeline) == [0.5, 4, 15, 0.1]


def test_no_augmentation_leaves_the_batch_as_it_is() -> None:
    plain = batch()
    assert parse_augmentations([], SPEC)(plain, 0, 0, 0) is plain


def test_a_batch_is_a_pure_function_of_seed_epoch_and_position() -> None:
    pipeline, plain = parse_augmentations([*LABEL_KEEPING, "mixup"], SPEC), batch()
    first = pipeline(plain, 3, 1, 4)
    again = parse_augmentations([*LABEL_KEEPING, "mixup"], SPEC)(plain, 3, 1, 4)
    assert torch.equal(first.inputs, again.inputs)
    assert torch.equal(first.targets, again.targets)
    for seed, epoch, position in ((4, 1, 4), (3, 2, 4), (3, 1, 5)):
        assert not torch.equal(pipeline(plain, seed, epoch, position).inputs, first.inputs)


def test_labels_weights_and_rows_are_unchanged() -> None:
    plain = batch()._replace(weights=torch.rand(12))
    changed = parse_augmentations(LABEL_KEEPING, SPEC)(plain, 0, 0, 0)
    assert changed[1:] == plain[1:]
    assert changed.inputs.shape == plain.inputs.shape
    assert not torch.equal(changed.inputs, plain.inputs)


def test_steps_are_done_in_their_order_from_one_stream() -> None:
    plain = batch()
    changed = parse_augmentations(["crop=2", "flip", "contrast", "rotation"], SPEC)(plain, 0, 2, 7)
    stream = torch.Generator().manual_seed(derive_seed(0, "augment", 2, 7))
    crop, flip, contrast, rotation = map(
        AUGMENTATIONS.load, ("crop", "flip", "contrast", "rotation")
    )
    warped = apply_warps(plain.inputs, [(crop, 2), (flip, 0.5)], stream)  # type: ignore[list-item]
    toned = contrast.apply(warped, contrast.strength, stream)
    assert torch.equal(changed.inputs, rotation.apply(toned, rotation.strength, stream))


def test_mixup_gives_probabilities() -> None:
    mixed = parse_augmentations(["mixup"], SPEC)(batch(), 0, 0, 0)
    assert mixed.targets.shape == (12, 5)
    assert torch.allclose(mixed.targets.sum(dim=1), torch.ones(12))


MASKS = DataSpec(**{**COLOUR, "target": "mask"}, num_outputs=4)
WARPS = ["flip", "flip-vertical", "crop=2", "rotation=40", "zoom=0.5", "elastic=0.05"]
TOUCHES = ["brightness", "contrast", "colour-jitter", "noise", "cutout=3"]


def masked(count: int = 12) -> Batch:
    """Images whose first channel is their mask, in four broad steps."""
    steps = torch.arange(8) // 2
    masks = torch.stack([steps[:, None].expand(8, 8), steps.expand(8, 8)] * (count // 2))
    return batch(count)._replace(
        inputs=masks[:, None].float().repeat(1, 3, 1, 1), targets=masks.byte()
    )


@for_each("name", WARPS)
def test_a_mask_moves_with_its_image(name: str) -> None:
    plain = masked()
    moved = parse_augmentations([name], MASKS)(plain, 0, 0, 0)
    assert (moved.targets.shape, moved.targets.dtype) == ((12, 8, 8), torch.uint8)
    assert not torch.equal(moved.targets, plain.targets)
    # A class is a whole number, the image between two pixels is not: they differ by half at most.
    assert (moved.inputs[:, 0] - moved.targets).abs().max() <= 0.5 + 1e-5


def test_masks_move_by_all_neighbouring_warps_together() -> None:
    moved = parse_augmentations(WARPS, MASKS)(masked(), 0, 0, 0)
    assert (moved.inputs[:, 0] - moved.targets).abs().max() <= 0.5 + 1e-5


@for_each("name", TOUCHES)
def test_what_changes_pixels_where_they_are_leaves_the_mask(name: str) -> None:
    plain = masked()
    changed = parse_augmentations([name], MASKS)(plain, 0, 0, 0)
    assert torch.equal(changed.targets, plain.targets)
    assert not torch.equal(changed.inputs, plain.inputs)


def test_the_masks_of_a_place_in_a_run_are_always_the_same() -> None:
    plain, pipeline = masked(), parse_augmentations(WARPS, MASKS)
    kept = plain.targets.clone()
    first = pipeline(plain, 3, 1, 4)
    again = parse_augmentations(WARPS, MASKS)(plain, 3, 1, 4, Scratch())
    assert torch.equal(first.targets, again.targets)
    assert torch.equal(first.inputs, again.inputs)
    assert torch.equal(plain.targets, kept)
    assert not torch.equal(pipeline(plain, 3, 1, 5).targets, first.targets)


FEATURES = DataSpec(inputs="features", input_shape=(4,), target="class", num_outputs=2)
REALS = DataSpec(inputs="image", input_shape=(3, 8, 8), target="real", num_outputs=1)
GREY = DataSpec(inputs="image", input_shape=(1, 8, 8), target="class", num_outputs=2)


@for_each(
    ("specs", "spec", "error", "sentence"),
    [
        (["flop"], SPEC, UnknownNameError, "unknown augmentation 'flop'; did you mean 'flip'?"),
        (
            ["color-jitter"],
            SPEC,
            UnknownNameError,
            "unknown augmentation 'color-jitter'; did you mean 'colour-jitter'?",
        ),
        (
            ["crop=big"],
            SPEC,
            ConfigError,
            "augmentation must be 'name' or 'name=strength', as 'crop=4', got 'crop=big'",
        ),
        (
            ["crop="],
            SPEC,
            ConfigError,
            "augmentation must be 'name' or 'name=strength', as 'crop=4', got 'crop='",
        ),
        (
            ["crop=8"],
            SPEC,
            ConfigError,
            "the strength of augmentation 'crop' must be greater than 0 and at most 7, got 8",
        ),
        (
            ["flip", "flip=1"],
            SPEC,
            ConfigError,
            "augmentation 'flip' must be given once, got ['flip', 'flip=1']",
        ),
        (
            ["mixup", "cutmix"],
            SPEC,
            ConfigError,
            "examples are mixed in one way, by mixup or cutmix, got ['mixup', 'cutmix']",
        ),
        (
            ["flip"],
            FEATURES,
            DataError,
            "augmentation is for images (C, I, J), got features (4)",
        ),
        (
            ["mixup"],
            REALS,
            DataError,
            "augmentation 'mixup' mixes classes, got targets of kind 'real'",
        ),
        (
            ["mixup"],
            MASKS,
            DataError,
            "augmentation 'mixup' mixes classes, got targets of kind 'mask'",
        ),
        (
            ["colour-jitter"],
            GREY,
            DataError,
            "augmentation 'colour-jitter' needs images of 3 channels, got 1",
        ),
    ],
)
def test_refusals(specs: list[str], spec: DataSpec, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error) as refused:
        parse_augmentations(specs, spec)
    assert str(refused.value) == sentence
