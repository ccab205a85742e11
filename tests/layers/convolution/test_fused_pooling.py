"""Max pooling: torch's where no kernel fits; `test_pool_operation.py` tries the kernel."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.seeding import generator
from netwright.layers.convolution.fused_pooling import has_fused_pooling, pooled

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")


def images(device: str, dtype: torch.dtype) -> Tensor:
    values = torch.randn(2, 3, 9, 9, generator=generator(0, "images")).to(device, dtype)
    return values.contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("pool", [nn.MaxPool2d(2), nn.AvgPool2d(3), nn.Identity()], ids=str)
def test_on_a_cpu_the_module_itself_runs(pool: nn.Module) -> None:
    x = images("cpu", torch.float32)
    assert torch.equal(pooled(pool, x), pool(x))
    assert not has_fused_pooling(pool, x)


@needs_cuda
@pytest.mark.parametrize("pool", [nn.MaxPool2d(2), nn.MaxPool2d(3, 2, padding=1)], ids=str)
def test_the_kernel_gives_torchs_bits(pool: nn.Module) -> None:
    x = images("cuda", torch.bfloat16)
    assert has_fused_pooling(pool, x)
    assert torch.equal(pooled(pool, x), pool(x))


UNFIT: dict[str, dict[str, Any]] = {
    "pairs": {"kernel_size": (2, 3)},
    "gaps": {"kernel_size": 2, "dilation": 2},
    "part of a window": {"kernel_size": 2, "ceil_mode": True},
    "places": {"kernel_size": 2, "return_indices": True},
    "larger than the image": {"kernel_size": 11},
}


@needs_cuda
@pytest.mark.parametrize("case", UNFIT)
def test_what_the_kernel_does_not_take_is_left_to_torch(case: str) -> None:
    assert not has_fused_pooling(nn.MaxPool2d(**UNFIT[case]), images("cuda", torch.bfloat16))
