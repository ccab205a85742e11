"""Batch norm, sum and ReLU in one: torch's numbers, its gradients and second derivatives."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

if not torch.cuda.is_available():
    pytest.skip("needs CUDA", allow_module_level=True)
from netwright.layers.convolution.norm_operation import normalize_now
from netwright.layers.convolution.norm_passes import Running

SHAPES = [(3, 5, 7, 6), (2, 130, 5, 5), (40, 64, 9, 9), (512, 16, 8, 8)]
EPS, MOMENTUM = 1e-5, 0.25


def images(*shape: int, seed: int = 0) -> Tensor:
    draw = torch.Generator("cuda").manual_seed(seed)
    values = 100 + 2 * torch.randn(shape, generator=draw, device="cuda")
    return values.contiguous(memory_format=torch.channels_last)


def parts(shape: tuple[int, ...], dtype: torch.dtype, *, adds: bool) -> list[Tensor]:
    weight, bias = torch.randn(2, shape[1], generator=torch.Generator().manual_seed(1))
    found = [images(*shape).to(dtype), weight.cuda(), bias.cuda()]
    found += [images(*shape, seed=2).sub(100).to(dtype)] if adds else []
    return [part.requires_grad_() for part in found]


def running(channels: int) -> Running:
    zeros = torch.zeros(2, channels, device="cuda")
    return Running(zeros[0], zeros[1] + 1, torch.zeros((), dtype=torch.int64).cuda(), MOMENTUM)


def torchs(parts: list[Tensor], added: Tensor | None, *, relu: bool) -> Any:
    """By torch in float64: the output, mean and variance."""
    x, weight, bias = parts[:3]
    mean, variance = weight.new_zeros(x.shape[1]), weight.new_ones(x.shape[1])
    out = functional.batch_norm(x, mean, variance, weight, bias, True, 1.0, EPS)
    out = out if added is None else out + added
    return functional.relu(out) if relu else out, mean, variance


def off(found: Tensor, wanted: Tensor) -> float:
    wanted = wanted.detach()
    return float((found.detach().double() - wanted).norm() / wanted.norm())


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("adds", [True, False])
def test_outputs_gradients_and_statistics_are_torchs(
    shape: tuple[int, ...], relu: bool, adds: bool
) -> None:
    given, moved = parts(shape, torch.bfloat16, adds=adds), running(shape[1])
    added = given[3] if adds else None
    out = normalize_now(*given[:3], added, EPS, relu, moved)
    slope = images(*shape, seed=3).sub(100).to(torch.bfloat16)
    found = torch.autograd.grad(out, given, slope)
    precise = [part.detach().double().requires_grad_() for part in given]
    wanted, mean, variance = torchs(precise, precise[3] if adds else None, relu=relu)
    # A bfloat16 has 8 bits; a value within half of one of 0 may be on either side of ReLU.
    assert off(out, wanted) < 4e-3
    slopes = torch.autograd.grad(wanted, precise, slope.double())
    assert all(off(one, other) < 2e-2 for one, other in zip(found, slopes, strict=True))
    assert off(moved.mean, MOMENTUM * mean) < 1e-6
    assert off(moved.variance, MOMENTUM * variance + 1 - MOMENTUM) < 1e-5
    assert moved.seen == 1
    assert out.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("adds", [True, False])
def test_bits_are_the_same_again(adds: bool) -> None:
    given = parts((40, 64, 9, 9), torch.bfloat16, adds=adds)
    added = given[3] if adds else None
    outs = [normalize_now(*given[:3], added, EPS, True, running(64)) for _ in range(3)]
    slope = torch.ones_like(outs[0])
    found = [(out, *torch.autograd.grad(out, given, slope)) for out in outs]
    for others in found[1:]:
        assert all(torch.equal(one, other) for one, other in zip(found[0], others, strict=True))


@pytest.mark.parametrize("adds", [True, False])
def test_second_derivatives_are_torchs(adds: bool) -> None:
    given = parts((3, 4, 5, 5), torch.float32, adds=adds)
    added, found = given[3] if adds else None, []
    for out in (
        normalize_now(*given[:3], added, EPS, True, running(4)),
        torchs(given, added, relu=True)[0],
    ):
        first = torch.autograd.grad((out**3).sum(), given[:2], create_graph=True)
        length = torch.stack([(slope**2).sum() for slope in first]).sum()
        found.append(torch.autograd.grad(length, given))
    assert all(off(one, other.double()) < 1e-3 for one, other in zip(*found, strict=True))


def test_a_number_that_is_not_finite_is_not_hidden_by_relu() -> None:
    given = parts((3, 4, 5, 5), torch.bfloat16, adds=False)
    with torch.no_grad():
        given[0][0, 1, 2, 2] = float("nan")
    out = normalize_now(*given, None, EPS, True, running(4))
    assert out[:, 1].isnan().all()
    assert out[:, 0].isfinite().all()


def test_tensors_that_begin_anywhere_are_read_too() -> None:
    given = parts((2, 3, 5, 5), torch.bfloat16, adds=False)
    wanted = normalize_now(*given, None, EPS, True, running(3))
    for weight in (torch.randn(7, device="cuda")[1:4], given[1].detach()):
        out = normalize_now(given[0], weight, given[2], None, EPS, True, running(3))
        assert out.shape == wanted.shape
    assert torch.equal(out, wanted)
