"""Pooling by name: the worked example, and what does not fill a window."""

import torch

from netwright.models.vision.window_pooling import build_pooling

MAP = torch.tensor([[1.0, 3.0, 5.0, 0.0, 9.0], [2.0, 2.0, 1.0, 2.0, 9.0]])[None, None]


def test_windows_keep_their_largest_or_their_mean_and_the_rest_is_left_out() -> None:
    assert build_pooling("max", 2)(MAP).tolist() == [[[[3.0, 5.0]]]]
    assert build_pooling("average", 2)(MAP).tolist() == [[[[2.0, 2.0]]]]
    assert torch.equal(build_pooling("max", 1)(MAP), MAP)
