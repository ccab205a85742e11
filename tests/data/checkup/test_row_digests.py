"""Digests of rows: equal exactly where the inputs are."""

import torch

from netwright.data.checkup.row_digests import row_digests
from netwright.data.dataset import Split
from netwright.data.loading.windows import WindowSplit
from netwright.data.pixels import ChannelScaling, PixelSplit


def test_rows_have_the_same_digest_exactly_where_they_are_equal() -> None:
    inputs = torch.tensor([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [1.0, 2.0 + 1e-6]])
    digests = row_digests(Split(inputs=inputs, targets=torch.zeros(4))).tolist()
    assert digests[0] == digests[2]
    assert len(set(digests)) == 3


def test_images_are_read_as_their_bytes() -> None:
    pixels = torch.tensor([[0, 1], [0, 1], [1, 0]], dtype=torch.uint8).reshape(3, 1, 1, 2)
    split = PixelSplit(
        pixels=pixels, scaling=ChannelScaling((0.5,), (0.2,)), targets=torch.zeros(3)
    )
    first, second, third = row_digests(split).tolist()
    assert first == second != third


def test_windows_of_a_stream_are_rows() -> None:
    split = WindowSplit(stream=torch.tensor([5, 6, 5, 6, 5, 6, 7]), window=2, stride=1)
    digests = row_digests(split).tolist()
    assert digests[0] == digests[2] == digests[4]
    assert digests[1] == digests[3] != digests[0]


def test_with_their_targets_rows_are_equal_where_both_are() -> None:
    split = Split(inputs=torch.ones(3, 2), targets=torch.tensor([0, 1, 0]))
    first, second, third = row_digests(split, with_targets=True).tolist()
    assert first == third != second
