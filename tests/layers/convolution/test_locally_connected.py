"""Locally connected layers: as many kernels as places, and what sharing them means."""

import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from netwright.core.errors import ConfigError, ShapeError
from netwright.core.seeding import seeded
from netwright.layers.convolution.locally_connected import LocallyConnected2d
from netwright.testing.layer_contract import LAYER_CHECKS, Build
from tests.repetition import for_each


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def build_layer(stride: int = 1, *, bias: bool = True) -> LocallyConnected2d:
    with seeded(0):
        return LocallyConnected2d(2, 3, (6, 7), (3, 2), stride=stride, bias=bias).double()


@torch.no_grad()
def share(layer: LocallyConnected2d, kernel: Tensor) -> None:
    layer.weight.copy_(kernel[:, :, None, None])


@for_each("check", LAYER_CHECKS, ids=lambda check: check.__name__)
@for_each(
    "build",
    [
        lambda: (LocallyConnected2d(2, 3, (4, 5), 2), torch.randn(3, 2, 4, 5)),
        lambda: (
            LocallyConnected2d(1, 2, (5, 5), 3, stride=2, bias=False),
            torch.randn(2, 1, 5, 5),
        ),
    ],
    ids=["plain", "strided"],
)
def test_keeps_the_layer_contract(check: Callable[[Build], None], build: Build) -> None:
    check(build)


@pytest.mark.covers("unshared-conv")
@pytest.mark.parametrize("stride", [1, 2])
def test_equal_kernels_make_a_convolution_and_others_do_not_follow_a_shift(stride: int) -> None:
    layer, x, kernel = build_layer(stride, bias=False), numbers(2, 2, 6, 7), numbers(3, 2, 3, 2)
    places = F.conv2d(x, kernel, stride=stride).shape[2:].numel()
    assert sum(p.numel() for p in layer.parameters()) == kernel.numel() * places
    moved = x.roll(2, 3)  # what leaves on the right comes back on the left: look beside it
    steps = 2 // stride
    assert (layer(moved)[..., steps + 1 :] - layer(x)[..., 1:-steps]).abs().max() > 0.1
    share(layer, kernel)
    torch.testing.assert_close(layer(x), F.conv2d(x, kernel, stride=stride), rtol=0, atol=1e-12)
    torch.testing.assert_close(layer(moved)[..., steps + 1 :], layer(x)[..., 1:-steps])


@pytest.mark.covers("parameter-sharing")
def test_the_gradient_of_a_shared_kernel_is_the_sum_of_those_of_its_copies() -> None:
    layer, x, kernel = build_layer(bias=False), numbers(2, 2, 6, 7), numbers(3, 2, 3, 2)
    share(layer, kernel)
    copies = torch.autograd.grad(layer(x).tanh().sum(), layer.weight)[0]
    out = F.conv2d(x, kernel.requires_grad_())
    shared = torch.autograd.grad(out.tanh().sum(), kernel)[0]
    torch.testing.assert_close(copies.sum(dim=(2, 3)), shared, rtol=0, atol=1e-12)


@pytest.mark.covers("sparse-interactions")
def test_dense_local_and_shared_layers_have_a_million_three_thousand_and_three_weights() -> None:
    with torch.device("meta"):
        dense = nn.Linear(1000, 1000, bias=False)
        local = LocallyConnected2d(1, 1, (1, 1002), (1, 3), bias=False)
        shared = nn.Conv1d(1, 1, 3, bias=False)
        assert local(torch.zeros(1, 1, 1, 1002)).shape[-1] == 1000
        assert shared(torch.zeros(1, 1, 1002)).shape[-1] == 1000
    counts = [layer.weight.numel() for layer in (dense, local, shared)]
    assert counts == [1_000_000, 3_000, 3]


def test_weights_start_as_small_as_torchs() -> None:
    layer = build_layer()
    bound = 1 / (2 * 3 * 2) ** 0.5
    for parameter in layer.parameters():
        assert 0.8 * bound < parameter.abs().max() <= bound
    assert "kernel_size=(3, 2), stride=1, bias=True" in str(layer)


def test_other_images_and_settings_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"^x must have shape \(B, 2, 6, 7\), got \(1, 2, 6, 6\)$"):
        build_layer()(numbers(1, 2, 6, 6))
    sentence = "a kernel of 5 must fit into the padded size, got 4 + 0"
    with pytest.raises(ShapeError, match=f"^{re.escape(sentence)}$"):
        LocallyConnected2d(1, 1, (4, 8), 5)
    with pytest.raises(ConfigError, match=r"^in_channels must be positive, got 0$"):
        LocallyConnected2d(0, 1, (4, 4), 3)
    with pytest.raises(ConfigError, match=r"^out_channels must be positive, got 0$"):
        LocallyConnected2d(1, 0, (4, 4), 3)
