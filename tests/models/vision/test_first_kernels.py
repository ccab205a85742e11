"""First kernels: their variance is that of the way back."""

import pytest
import torch
from torch import nn

from netwright.core.seeding import seeded
from netwright.models.vision.first_kernels import draw_kernels


def test_the_variance_is_two_over_the_values_that_a_gradient_comes_from() -> None:
    with seeded(0):
        net = nn.Sequential(nn.Conv2d(8, 64, 3), nn.ReLU(), nn.Sequential(nn.Conv2d(64, 16, 5)))
        biases = [net[0].bias.clone(), net[2][0].bias.clone()]
        draw_kernels(net)
    assert net[0].weight.var().item() == pytest.approx(2 / (9 * 64), rel=0.1)
    assert net[2][0].weight.var().item() == pytest.approx(2 / (25 * 16), rel=0.1)
    assert torch.equal(net[0].bias, biases[0])
    assert torch.equal(net[2][0].bias, biases[1])
