"""A sequence is torch's; on CUDA its neighbours run as one, and networks learn the same."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.seeding import generator, seeded
from netwright.data.spec import DataSpec
from netwright.layers.convolution import fused_norm
from netwright.layers.convolution.fused_sequence import Sequential
from netwright.models.catalog import MODELS

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
STEPS, SIDE = 50, 16
RATE = 1e-3  # at 0.02 a last bit grows to a tenth of the way in fifty steps
SHAKEN = 3  # runs that say how far apart last bits bring two: by a factor of two, more or less


def layers() -> list[nn.Module]:
    norm = nn.BatchNorm2d(4)
    return [nn.Conv2d(3, 4, 3), nn.MaxPool2d(2), norm, nn.ReLU(), nn.Dropout(0.5), nn.Flatten()]


def images(count: int, side: int) -> Tensor:
    values = torch.randn(count, 3, side, side, generator=generator(0, "images"))
    return values.contiguous(memory_format=torch.channels_last)


def test_outputs_and_names_are_those_of_torchs_sequence() -> None:
    ours = Sequential(*layers())
    theirs = nn.Sequential(*copy.deepcopy(list(ours)))
    assert str(ours) == str(theirs)
    assert [*ours.state_dict()] == [*theirs.state_dict()]
    for _ in range(2):
        with seeded(0):
            wanted = theirs(images(2, 8))
        with seeded(0):
            assert torch.equal(ours(images(2, 8)), wanted)
        for one, other in zip(ours.buffers(), theirs.buffers(), strict=True):
            assert torch.equal(one, other)
        ours.eval()
        theirs.eval()


@needs_cuda
def test_a_relu_that_is_looked_at_runs_by_itself() -> None:
    layers = [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()]
    ours = Sequential(*layers).cuda().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    seen: list[Tensor] = []
    ours[2].register_forward_hook(lambda _, given, out: seen.extend((*given, out)))
    with torch.autocast("cuda", dtype=torch.bfloat16):
        out = ours(images(2, 8).cuda())
    assert seen[1] is out
    assert seen[0].min() < 0 == out.min()


def network(model: str) -> nn.Module:
    kind: Any = MODELS.load(model)
    shape = DataSpec(inputs="image", input_shape=(3, SIDE, SIDE), target="class", num_outputs=4)
    with seeded(0):
        net: nn.Module = kind.build(kind.settings(width=8), shape).cuda()
    return net.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def train(net: nn.Module, steps: int) -> Tensor:
    """Some updates; gives the gradients of the last, one after the other."""
    x, labels = images(64, SIDE).to(next(net.parameters())), torch.arange(64, device="cuda") % 4
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE, momentum=0.9)
    for _ in range(steps):
        optimizer.zero_grad()
        torch.autograd.backward(functional.cross_entropy(net(x), labels))
        optimizer.step()
    return torch.cat([part.grad.flatten() for part in net.parameters() if part.grad is not None])


def weights(net: nn.Module) -> Tensor:
    return torch.cat([part.detach().flatten() for part in net.parameters()])


def disturb(net: nn.Module) -> None:
    """Let norms give values that differ in their last bit."""
    for part in net.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.register_forward_hook(lambda _, __, out: out * (1 + 1e-7 * torch.randn_like(out)))


@pytest.fixture
def in_float32(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Where rounding does not hide a fault."""
    monkeypatch.setattr(fused_norm, "HALVES", (torch.float32,))
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False, deterministic=True):
        yield


@needs_cuda
@pytest.mark.usefixtures("in_float32")
@pytest.mark.parametrize("model", ["resnet9", "resnet20", "resnet50"])
def test_a_network_learns_as_the_plain_one(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same gradient; after fifty steps no further off than by a last bit of each norm.

    How far float32 is off from the truth grows with the depth.
    """
    quick, plain = network(model), network(model)
    exact = train(network(model).double(), 1)
    seen: list[Tensor] = []
    fused = fused_norm._fused

    def noted(norm: nn.BatchNorm2d, x: Tensor, *given: Any) -> Tensor:
        seen.append(x)
        return fused(norm, x, *given)

    monkeypatch.setattr(fused_norm, "_fused", noted)
    slopes = train(quick, 1)
    assert len(seen) == sum(isinstance(part, nn.BatchNorm2d) for part in quick.modules())
    train(quick, STEPS - 1)
    monkeypatch.setattr(fused_norm, "DEVICES", ())
    wanted = train(plain, 1)
    assert (slopes - exact).norm() < 2 * (wanted - exact).norm() + 1e-5 * exact.norm()
    train(plain, STEPS - 1)
    usual = max(_way_of_a_shaken_run(model, plain) for _ in range(SHAKEN))
    moved = weights(plain) - weights(network(model))
    assert (weights(quick) - weights(plain)).norm() < 5 * usual + 1e-3 * moved.norm()


def _way_of_a_shaken_run(model: str, plain: nn.Module) -> float:
    """How far from the plain run one ends whose norms are off by a last bit."""
    shaken = network(model)
    disturb(shaken)
    train(shaken, 1)
    train(shaken, STEPS - 1)
    return float((weights(shaken) - weights(plain)).norm())
