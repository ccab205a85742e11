"""The first convolution: torch's where no kernel fits; `test_stem_operation.py` tries it."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.seeding import generator
from netwright.layers.convolution.fused_stem import convolved, has_fused_stem

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")


def images(device: str, dtype: torch.dtype = torch.float32) -> Tensor:
    values = torch.randn(2, 3, 9, 9, generator=generator(0, "images")).to(device, dtype)
    return values.contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("layer", [nn.Conv2d(3, 4, 3, bias=False), nn.Conv2d(3, 4, 5)], ids=str)
def test_on_a_cpu_the_layer_itself_runs(layer: nn.Module) -> None:
    x = images("cpu")
    assert torch.equal(convolved(layer, x), layer(x))
    assert not has_fused_stem(layer, x)


@needs_cuda
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_under_autocast_the_kernel_gives_the_layers_numbers(dtype: torch.dtype) -> None:
    layer, x = nn.Conv2d(3, 4, 3, padding=1, bias=False).cuda(), images("cuda")
    assert not has_fused_stem(layer, x)  # float32 stays torch's
    found = []
    with torch.autocast("cuda", dtype=dtype):
        for out in (convolved(layer, x), layer(x)):
            (slope,) = torch.autograd.grad((out**2).sum(), layer.weight)
            found.append((out, slope))
        assert has_fused_stem(layer, x.to(dtype))
    for ours, theirs in zip(*found, strict=True):
        assert ours.dtype == theirs.dtype
        torch.testing.assert_close(ours, theirs, rtol=0.02, atol=0.02 * theirs.abs().max().item())


UNFIT: dict[str, dict[str, Any]] = {
    "oblong windows": {"kernel_size": (3, 2)},
    "oblong steps": {"kernel_size": 3, "stride": (1, 2)},
    "many numbers under a window": {"kernel_size": 11},
    "gaps": {"kernel_size": 3, "dilation": 2},
    "offsets": {"kernel_size": 3, "bias": True},
    "groups": {"kernel_size": 3, "groups": 3, "out_channels": 6},
    "other edges": {"kernel_size": 3, "padding": 1, "padding_mode": "reflect"},
    "named padding": {"kernel_size": 3, "padding": "same"},
}


@needs_cuda
@pytest.mark.parametrize("case", UNFIT)
def test_what_the_kernel_does_not_take_is_left_to_torch(case: str) -> None:
    given = {"in_channels": 3, "out_channels": 4, "bias": False, **UNFIT[case]}
    assert not has_fused_stem(nn.Conv2d(**given).cuda(), images("cuda", torch.bfloat16))


@needs_cuda
def test_images_that_have_a_gradient_and_layers_that_only_answer_are_left_to_torch() -> None:
    layer, x = nn.Conv2d(3, 4, 3, bias=False).cuda(), images("cuda", torch.bfloat16)
    assert has_fused_stem(layer, x)
    assert not has_fused_stem(layer, x.contiguous())  # the channels of a pixel apart
    assert not has_fused_stem(layer, x[:, :, :0])
    assert not has_fused_stem(layer, x.clone().requires_grad_())
    assert not has_fused_stem(layer.eval(), x)


# torch's compiler imports what torch itself has deprecated.
@pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")
@needs_cuda
def test_compiled_it_computes_the_same_bits() -> None:
    layer, x = nn.Conv2d(3, 64, 7, 2, padding=3, bias=False).cuda(), images("cuda")
    torch.compiler.reset()
    quick, found = torch.compile(convolved, backend="aot_eager", fullgraph=True), []
    for run in (convolved, quick):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            out = run(layer, x)
        found.append((out, *torch.autograd.grad(out.float().square().sum(), layer.weight)))
    for ours, theirs in zip(*found, strict=True):
        assert torch.equal(ours, theirs)
