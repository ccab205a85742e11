"""A product that is filled up: the same numbers and gradients, and no more outputs."""

import pytest
import torch
from torch.nn import functional

from netwright.layers.padded_linear import linear_filled_up, padded_linear


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_rows_of_zeros_change_nothing(rows: int) -> None:
    random = torch.Generator().manual_seed(0)
    x = torch.randn(2, 3, 4, generator=random, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(7, 4, generator=random, dtype=torch.float64, requires_grad=True)
    ours, wanted = linear_filled_up(x, weight, rows), functional.linear(x, weight)
    assert ours.shape == (2, 3, 7)
    torch.testing.assert_close(ours, wanted, rtol=1e-14, atol=1e-14)
    slopes = torch.randn(2, 3, 7, generator=random, dtype=torch.float64)
    for own, other in zip(
        torch.autograd.grad(ours, (x, weight), slopes),
        torch.autograd.grad(wanted, (x, weight), slopes),
        strict=True,
    ):
        torch.testing.assert_close(own, other, rtol=1e-13, atol=1e-13)


def test_on_a_cpu_it_is_the_plain_product() -> None:
    x, weight = torch.randn(1500, 4), torch.randn(7, 4)
    assert torch.equal(padded_linear(x, weight), functional.linear(x, weight))
    assert padded_linear(x, weight).is_contiguous()


def test_shapes_alone_are_enough() -> None:
    x, weight = torch.empty(1500, 4, device="meta"), torch.empty(7, 4, device="meta")
    assert padded_linear(x, weight).shape == (1500, 7)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_on_cuda_many_places_of_a_half_format_are_filled_up() -> None:
    x, weight = torch.randn(1500, 64, device="cuda"), torch.randn(77, 64, device="cuda")
    with torch.autocast("cuda", torch.bfloat16):
        ours = padded_linear(x, weight)
        assert ours.stride(0) == 128
        assert padded_linear(x[:9], weight).stride(0) == 77
    assert padded_linear(x, weight).stride(0) == 77
    torch.testing.assert_close(ours.float(), functional.linear(x, weight), rtol=0.05, atol=0.5)
