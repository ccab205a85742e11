"""First kernels: their variance is that of the way back."""

import pytest
import torch
from torch import nn

from netwright.core.seeding import seeded
from netwright.models.vision.first_kernels import draw_kernels


def test_the_variance_is_two_over_the_values_that_a_gradient_comes_from() -> None:
    with seeded(0):
        first, second, dense = nn.Conv2d(8, 64, 3), nn.Conv2d(64, 16, 5), nn.Linear(2, 2)
        kept = [weight.clone() for weight in (first.weight, dense.weight)]
        draw_kernels(nn.Sequential(first, nn.ReLU(), nn.Sequential(second, dense)))
    assert first.weight.var().item() == pytest.approx(2 / (9 * 64), rel=0.1)
    assert second.weight.var().item() == pytest.approx(2 / (25 * 16), rel=0.1)
    assert not torch.equal(first.weight, kept[0])
    assert torch.equal(dense.weight, kept[1])
