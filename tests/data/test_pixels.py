"""Images as bytes: the same floats as by hand, made a batch at a time, and never too many."""

import re

import pytest
import torch
from torch import Tensor

from netwright.core.errors import DataError, ShapeError
from netwright.data.dataset import Split
from netwright.data.loading.loader import BatchLoader
from netwright.data.pixels import ChannelScaling, PixelSplit

SCALING = ChannelScaling(mean=(0.5, 0.25, 0.4914), scale=(0.25, 0.5, 0.247))
ALL_BYTES = torch.arange(256, dtype=torch.uint8).reshape(1, 1, 16, 16).expand(1, 3, 16, 16)


def pixels(count: int = 7) -> Tensor:
    random = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (count, 3, 4, 5), dtype=torch.uint8, generator=random)


def split(count: int = 7, *, weights: Tensor | None = None) -> PixelSplit:
    targets = 10 * torch.arange(count)
    return PixelSplit(pixels=pixels(count), scaling=SCALING, targets=targets, weights=weights)


def test_every_byte_comes_back() -> None:
    encoded = SCALING.encode(ALL_BYTES)
    assert encoded.dtype is torch.float32
    assert SCALING.decode(encoded).dtype is torch.uint8
    assert torch.equal(SCALING.decode(encoded), ALL_BYTES)


def test_floats_beyond_the_bytes_become_the_nearest_byte() -> None:
    far = torch.tensor([-100.0, 100.0]).reshape(1, 1, 1, 2).expand(1, 3, 1, 2)
    assert SCALING.decode(far)[0, 0].tolist() == [[0, 255]]


def test_one_pixel_by_hand() -> None:
    # 51 / 255 = 0.2: (0.2 - 0.5) / 0.25, (0.2 - 0.25) / 0.5
    encoded = SCALING.encode(torch.full((1, 3, 1, 1), 51, dtype=torch.uint8)).flatten()
    torch.testing.assert_close(encoded[:2], torch.tensor([-1.2, -0.1]))


def test_floats_are_those_of_the_formula() -> None:
    mean, scale = (torch.tensor(row).reshape(3, 1, 1) for row in (SCALING.mean, SCALING.scale))
    by_hand = (pixels() / 255 - mean) / scale
    torch.testing.assert_close(split().inputs, by_hand, rtol=1e-5, atol=1e-6)


def test_reading_taking_moving_and_all_at_once_agree_bit_for_bit() -> None:
    rows = torch.tensor([5, 0, 5, 2])
    whole = split(weights=torch.arange(7.0))
    taken = whole.take(rows).to(torch.device("cpu"))
    assert isinstance(taken, PixelSplit)
    assert len(taken) == 4
    assert torch.equal(taken.pixels, pixels()[rows])
    assert torch.equal(taken.inputs, whole.inputs[rows])
    assert torch.equal(taken.inputs, whole.read(rows))
    assert taken.targets.tolist() == [50, 0, 50, 20]
    assert taken.weights is not None
    assert taken.weights.tolist() == [5, 0, 5, 2]


def test_a_loader_gives_the_batches_of_the_same_images_held_as_floats() -> None:
    whole = split()
    floats = Split(inputs=whole.inputs, targets=whole.targets)
    ours, theirs = (list(BatchLoader(part, 3, shuffle=True).epoch(1)) for part in (whole, floats))
    assert len(ours) == len(theirs) == 3
    for one, other in zip(ours, theirs, strict=True):
        assert torch.equal(one.inputs, other.inputs)
        assert torch.equal(one.targets, other.targets)


def test_masks_are_taken_along() -> None:
    masks = (pixels()[:, 0] > 100).byte()
    taken = PixelSplit(pixels=pixels(), scaling=SCALING, targets=masks).take(torch.tensor([3]))
    assert torch.equal(taken.targets, masks[3:4])


def test_making_too_many_floats_is_refused_and_a_batch_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("netwright.data.pixels.MOST_BYTES", 2**30)
    one = torch.zeros(1, 1, 512, 512, dtype=torch.uint8)
    grey = ChannelScaling(mean=(0.5,), scale=(0.5,))
    large = PixelSplit(
        pixels=one.expand(1536, 1, 512, 512), scaling=grey, targets=torch.zeros(1536)
    )
    sentence = (
        "all 1,536 images together take 1.5 GiB as floats, at most 1 GiB are allocated at once: "
        "use fewer or smaller images, or a model that trains in batches"
    )
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        _ = large.inputs
    assert large.read(torch.tensor([1535])).shape == (1, 1, 512, 512)
    assert repr(large) == "PixelSplit((1536, 1, 512, 512))"


def test_what_is_not_bytes_or_has_other_channels_is_refused() -> None:
    targets = torch.zeros(2)
    with pytest.raises(DataError, match=r"^pixels must be bytes \(uint8\), got torch\.float32$"):
        PixelSplit(pixels=torch.zeros(2, 3, 4, 4), scaling=SCALING, targets=targets)
    grey = torch.zeros(2, 1, 4, 4, dtype=torch.uint8)
    with pytest.raises(ShapeError, match=r"^pixels must have shape \(N, 3, I, J\)"):
        PixelSplit(pixels=grey, scaling=SCALING, targets=targets)


def test_other_targets_and_weights_leave_the_bytes() -> None:
    before = split(weights=torch.ones(7))
    after = before.with_targets(torch.arange(7), torch.arange(7.0))
    assert after.pixels is before.pixels
    assert after.scaling is SCALING
    assert after.weights is not None
    assert after.targets.tolist() == after.weights.tolist() == list(range(7))
