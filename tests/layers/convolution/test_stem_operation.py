"""A convolution of few channels by kernels: torch's outputs, gradients and second ones."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional

if not torch.cuda.is_available():
    pytest.skip("needs CUDA", allow_module_level=True)
from netwright.layers.convolution import stem_operation
from netwright.layers.convolution.stem_operation import convolve_now

CASES = [  # images, outputs, window, stride, padding
    ((3, 3, 9, 7), 5, 3, 1, 1),
    ((2, 1, 8, 8), 64, 5, 2, 2),
    ((2, 4, 6, 6), 130, 1, 1, 0),
    ((4, 3, 17, 16), 16, 4, 3, 0),
    ((64, 3, 32, 32), 64, 3, 1, 1),
    ((2, 3, 20, 20), 64, 7, 2, 3),
]


def drawn(*shape: int, dtype: torch.dtype = torch.float16) -> Tensor:
    values = torch.randn(shape, generator=torch.Generator().manual_seed(0)).to("cuda", dtype)
    return values.contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("parts", [stem_operation.PARTS, 3])
def test_outputs_and_gradients_are_those_of_the_formula(
    case: tuple[tuple[int, int, int, int], int, int, int, int],
    dtype: torch.dtype,
    parts: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stem_operation, "PARTS", parts)
    shape, outputs, size, stride, padding = case
    x, weight = drawn(*shape, dtype=dtype), drawn(outputs, shape[1], size, size, dtype=dtype)
    ours, exact = weight.clone().requires_grad_(), weight.double().requires_grad_()
    y = convolve_now(x, ours, stride, padding)
    wanted = functional.conv2d(x.double(), exact, None, stride, padding)
    assert y.dtype == dtype
    assert y.is_contiguous(memory_format=torch.channels_last)
    scale = wanted.abs().max().item()
    torch.testing.assert_close(y.double(), wanted, rtol=0.01, atol=0.002 * scale)
    slope = drawn(*wanted.shape, dtype=dtype)
    torch.autograd.backward([y, wanted], [slope, slope.double()])
    assert ours.grad is not None
    assert exact.grad is not None
    scale = exact.grad.abs().max().item()
    torch.testing.assert_close(ours.grad.double(), exact.grad, rtol=0.01, atol=0.002 * scale)


def test_weights_in_either_order_of_memory_give_the_same_bits() -> None:
    x, weight = drawn(2, 3, 8, 8), drawn(16, 3, 3, 3)
    other = weight.contiguous(memory_format=torch.contiguous_format)
    assert torch.equal(convolve_now(x, weight, 1, 1), convolve_now(x, other, 1, 1))


def test_second_derivatives_are_torchs() -> None:
    x, weight, found = drawn(2, 3, 6, 6), drawn(4, 3, 3, 3).requires_grad_(), []
    for out in (convolve_now(x, weight, 1, 1), functional.conv2d(x, weight, None, 1, 1)):
        (first,) = torch.autograd.grad((out**3).mean(), weight, create_graph=True)
        found.append(torch.autograd.grad((first**2).sum(), weight)[0])
    torch.testing.assert_close(*found, rtol=0.02, atol=0.02)
