"""Residual blocks: the identity at rest, the gradient that goes around, shortcuts by hand."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.seeding import seeded
from netwright.layers.convolution.residual_block import (
    BasicBlock,
    Bottleneck,
    PaddedShortcut,
    ResidualBlock,
    Shortcut,
    build_shortcut,
)
from netwright.testing.layer_contract import LAYER_CHECKS, Build

KINDS = (BasicBlock, Bottleneck)


def block(
    kind: type[BasicBlock | Bottleneck], before: int, channels: int, stride: int = 1, seed: int = 0
) -> BasicBlock | Bottleneck:
    """A block in double precision whose batch norms do something."""
    with seeded(seed):
        made = kind(before, channels, stride).double().eval()
        for part in made.modules():
            if isinstance(part, nn.BatchNorm2d):
                for numbers in (part.weight, part.running_var):
                    assert numbers is not None
                    nn.init.uniform_(numbers, 0.5, 2.0)
                nn.init.normal_(part.bias)
        return made


def images(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64)


def last_norm(made: ResidualBlock) -> nn.BatchNorm2d:
    norm = made.get_submodule("bn3" if isinstance(made, Bottleneck) else "bn2")
    assert isinstance(norm, nn.BatchNorm2d)
    return norm


def scale_deviation(made: ResidualBlock, scale: float) -> None:
    nn.init.constant_(last_norm(made).weight, scale)
    nn.init.zeros_(last_norm(made).bias)


def gradient_through(blocks: nn.Module) -> float:
    """The length of the gradient at the input over that at the output, which is of ones."""
    x = images(1, 4, 5, 5).abs().requires_grad_()
    out = blocks(x)
    (back,) = torch.autograd.grad(out.sum(), x)
    return float(back.norm() / torch.ones_like(out).norm())


@pytest.mark.covers("residual-block")
def test_the_identity_at_rest_and_a_gradient_that_goes_around_the_convolutions() -> None:
    made, x = block(BasicBlock, 4, 4), images(2, 4, 5, 5).requires_grad_()
    deviation = made.deviation(x)
    upstream = images(2, 4, 5, 5).flip(0) * (x + deviation > 0)  # g, behind the ReLU
    (through,) = torch.autograd.grad(deviation, x, upstream)
    (whole,) = torch.autograd.grad(made(x), x, upstream)
    torch.testing.assert_close(whole, upstream + through)

    scale_deviation(made, 0.0)
    assert torch.equal(made.deviation(x) + made.downsample(x), x)
    assert torch.equal(made(x), x.relu())

    hundred = nn.Sequential(*(block(BasicBlock, 4, 4, seed=seed) for seed in range(100)))
    plain = nn.Sequential(*(BasicBlock(4, 4, 1, "none").double().eval() for _ in range(100)))
    for stack in (hundred, plain):
        for part in stack:
            assert isinstance(part, BasicBlock)
            scale_deviation(part, 0.02)
    assert 0.5 < gradient_through(hundred) < 5
    assert gradient_through(plain) < 1e-30


def test_a_basic_block_by_hand() -> None:
    # One channel, one pixel: only the middle of a 3x3 kernel meets it. Batch norm takes 1 off and
    # doubles: relu(2 (2 * 3 - 1)) = 10, then 2 (1.5 * 10 - 1) = 28; with the shortcut 31.
    # From -3 it is relu(-14) = 0, then 2 (0 - 1) = -2; with the shortcut -5, which ReLU cuts.
    made = BasicBlock(1, 1).double().eval()
    for convolution, weight in ((made.conv1, 2.0), (made.conv2, 1.5)):
        nn.init.zeros_(convolution.weight)
        with torch.no_grad():
            convolution.weight[0, 0, 1, 1] = weight
    for norm in (made.bn1, made.bn2):
        nn.init.constant_(norm.weight, 2.0)
        norm.eps = 1e-300  # nothing beside 1; some versions of torch refuse 0
        norm.load_state_dict({"running_mean": torch.ones(1)}, strict=False)
    x = torch.tensor([3.0, -3.0], dtype=torch.float64).reshape(2, 1, 1, 1)
    assert made.deviation(x).flatten().tolist() == [28.0, -2.0]
    assert made(x).flatten().tolist() == [31.0, 0.0]


def test_the_stride_of_a_bottleneck_is_in_its_3x3() -> None:
    made, x = block(Bottleneck, 3, 2, stride=2), images(2, 3, 7, 6)
    assert [part.stride for part in (made.conv1, made.conv2, made.conv3)] == [
        (1, 1),
        (2, 2),
        (1, 1),
    ]
    assert made(x).shape == (2, 8, 4, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_projection_is_a_1x1_convolution_with_batch_norm(
    kind: type[BasicBlock | Bottleneck],
) -> None:
    made, x = block(kind, 3, 4, stride=2), images(2, 3, 5, 5)
    state = {name: value for name, value in made.state_dict().items() if "downsample" in name}
    kept = x[:, :, ::2, ::2]
    projected = torch.einsum("ec,bcij->beij", state["downsample.0.weight"][:, :, 0, 0], kept)
    spread = (state["downsample.1.running_var"] + 1e-5).sqrt()[:, None, None]
    scale, bias = (state[f"downsample.1.{name}"][:, None, None] for name in ("weight", "bias"))
    wanted = functional.relu(scale * projected / spread + bias + made.deviation(x))
    torch.testing.assert_close(made(x), wanted)


def test_a_padded_shortcut_takes_every_second_pixel_and_adds_channels_of_zeros() -> None:
    x = torch.arange(9.0).reshape(1, 1, 3, 3)
    out = PaddedShortcut(2, 2)(x)
    assert out.tolist() == [[[[0, 2], [6, 8]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]]]


@pytest.mark.parametrize("shortcut", ["projection", "padding", "none"])
def test_a_shortcut_between_equal_shapes_is_the_input(shortcut: Shortcut) -> None:
    assert isinstance(build_shortcut(shortcut, 4, 4, 1), nn.Identity)


@pytest.mark.parametrize("kind", KINDS)
def test_the_plain_block_is_the_deviation_alone(kind: type[BasicBlock | Bottleneck]) -> None:
    with seeded(0):
        made, x = kind(3, 4, 2, "none").double().eval(), images(2, 3, 5, 5)
    assert torch.equal(made(x), made.deviation(x).relu())
    assert not any("downsample" in name for name in made.state_dict())


@pytest.mark.parametrize("shortcut", ["projection", "padding"])
def test_channels_stay_last_where_they_are_last(shortcut: Shortcut) -> None:
    made = BasicBlock(4, 8, 2, shortcut)
    out = made(torch.randn(2, 4, 6, 6).to(memory_format=torch.channels_last))
    assert out.is_contiguous(memory_format=torch.channels_last)


BUILDS: dict[str, Build] = {
    "basic": lambda: (BasicBlock(2, 3, 2), torch.randn(3, 2, 4, 4)),
    "padded": lambda: (BasicBlock(2, 3, 2, "padding"), torch.randn(3, 2, 4, 4)),
    "bottleneck": lambda: (Bottleneck(2, 3), torch.randn(2, 2, 2, 2)),
}


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize("check", LAYER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_layer_contract(name: str, check: Callable[[Build], None]) -> None:
    check(BUILDS[name])
