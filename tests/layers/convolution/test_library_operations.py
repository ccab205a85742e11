"""Operations that torch.compile knows: the bits of the functions of autograd, and torch's rules."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

if not torch.cuda.is_available():
    pytest.skip("needs CUDA", allow_module_level=True)
from netwright.layers.convolution import library_operations as library
from netwright.layers.convolution.norm_operation import normalize_now
from netwright.layers.convolution.norm_passes import Running
from netwright.layers.convolution.pool_operation import pool_now
from netwright.layers.convolution.stem_operation import convolve_now

EPS = 1e-5


def drawn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    values = torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to("cuda", dtype)
    order = torch.channels_last if len(shape) == 4 else torch.contiguous_format
    return values.contiguous(memory_format=order)


def norm_inputs(*, adds: bool) -> tuple[Any, ...]:
    shape = (40, 64, 9, 9)
    weight, bias = (drawn(64, seed=seed, dtype=torch.float32) for seed in (1, 2))
    added = drawn(*shape, seed=3).requires_grad_() if adds else None
    x = drawn(*shape).requires_grad_()
    return x, weight.requires_grad_(), bias.requires_grad_(), added, EPS, True


def normalized_now(*inputs: Any) -> Tensor:
    statistics = torch.zeros(2, 64, device="cuda")
    seen = torch.zeros((), dtype=torch.int64, device="cuda")
    return normalize_now(*inputs, Running(statistics[0], statistics[1], seen, 0.1))


CASES: dict[str, tuple[Any, Callable[..., Tensor], Callable[[], Any]]] = {
    "norm": (library.normalize, normalized_now, lambda: norm_inputs(adds=False)),
    "norm and sum": (library.normalize, normalized_now, lambda: norm_inputs(adds=True)),
    "first convolution": (
        library.convolve_stem,
        convolve_now,
        lambda: (drawn(4, 3, 9, 8), drawn(16, 3, 3, 3, seed=1).requires_grad_(), 2, 1),
    ),
    "pooling": (library.max_pool, pool_now, lambda: (drawn(2, 8, 9, 7).requires_grad_(), 3, 2, 1)),
}


@pytest.mark.parametrize("case", CASES)
def test_outputs_and_gradients_are_the_bits_of_the_functions(case: str) -> None:
    operation, function, inputs = CASES[case]
    given = inputs()
    learned = [one for one in given if isinstance(one, Tensor) and one.requires_grad]
    out, wanted = operation(*given), function(*given)
    first = out if isinstance(out, Tensor) else out[0]
    assert torch.equal(first, wanted)
    slope = drawn(*wanted.shape, seed=4)
    found = [torch.autograd.grad(y, learned, slope) for y in (first, wanted)]
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


@pytest.mark.parametrize("case", CASES)
def test_they_keep_the_rules_of_torchs_library(case: str) -> None:
    operation, _, inputs = CASES[case]
    wanted = ("test_schema", "test_autograd_registration", "test_faketensor")
    torch.library.opcheck(operation, inputs(), test_utils=wanted)
