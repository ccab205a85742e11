"""Max pooling that keeps bytes: torch's bits, its gradients, and their derivatives."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional

if not torch.cuda.is_available():
    pytest.skip("needs CUDA", allow_module_level=True)
from netwright.layers.convolution.pool_operation import pool_now

CASES = [
    ((2, 5, 8, 8), 2, 2, 0),
    ((2, 64, 9, 7), 3, 2, 1),
    ((3, 16, 7, 7), 3, 2, 0),
    ((1, 130, 6, 6), 2, 2, 0),
    ((2, 8, 9, 9), 3, 1, 1),
]


def images(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    values = torch.randn(shape, generator=torch.Generator().manual_seed(0)).to("cuda", dtype)
    return values.contiguous(memory_format=torch.channels_last).requires_grad_()


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_outputs_are_torchs_bits_and_gradients_its_numbers(
    case: tuple[tuple[int, ...], int, int, int], dtype: torch.dtype
) -> None:
    shape, *window = case
    size, stride, padding = window
    ours, theirs = images(*shape, dtype=dtype), images(*shape, dtype=dtype)
    out, wanted = pool_now(ours, *window), functional.max_pool2d(theirs, size, stride, padding)
    assert torch.equal(out, wanted)
    slope = torch.randn_like(wanted)
    torch.autograd.backward([out, wanted], [slope, slope])
    assert ours.grad is not None
    assert theirs.grad is not None
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=2e-2, atol=1e-5)


def test_second_derivatives_are_torchs() -> None:
    x, found = images(2, 4, 7, 7), []
    for out in (pool_now(x, 3, 2, 1), functional.max_pool2d(x, 3, 2, 1)):
        (first,) = torch.autograd.grad((out**3).sum(), x, create_graph=True)
        found.append(torch.autograd.grad((first**2).sum(), x)[0])
    torch.testing.assert_close(*found)


def test_a_number_that_is_not_finite_wins() -> None:
    x = images(1, 4, 4, 4).detach().clone(memory_format=torch.channels_last)
    x[0, 1, 2, 2] = float("nan")
    assert pool_now(x, 2, 2, 0)[0, 1, 1, 1].isnan()
