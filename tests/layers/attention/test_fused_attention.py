"""Fused attention: the formula, and gradients that are finite whatever kernel torch has."""

from unittest.mock import patch

import pytest
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from netwright.backprop.second_order import twice_differentiable
from netwright.core.seeding import generator
from netwright.layers.attention import fused_attention as module
from netwright.layers.attention.cross_attention import CrossAttention
from netwright.layers.attention.fused_attention import fills_tiles, fused_attention
from netwright.layers.attention.multihead_attention import MultiHeadAttention

on_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")


def parts(queries: int, keys: int, device: str = "cpu") -> list[Tensor]:
    drawing = generator(0, "attention")
    sizes = (queries, keys, keys)
    return [torch.randn(2, 3, size, 8, generator=drawing).to(device) for size in sizes]


def may_run(kernel: str) -> bool:
    return bool(getattr(torch.backends.cuda, f"{kernel}_sdp_enabled")())


def is_left_out(queries: int, keys: int) -> bool:
    """Whether cuDNN is left out for tensors on a GPU of so many places."""
    with patch.object(Tensor, "is_cuda", True), module._kernels(*parts(queries, keys)[:2]):
        return not may_run("cudnn")


def test_it_is_the_softmax_of_the_scores_times_the_values() -> None:
    queries, keys, values = parts(5, 7)
    wanted = torch.softmax(0.3 * queries @ keys.mT, dim=-1) @ values
    torch.testing.assert_close(fused_attention(queries, keys, values, scale=0.3), wanted)


@pytest.mark.parametrize(
    ("queries", "keys", "full"),
    [(128, 128, True), (256, 384, True), (64, 64, False), (1, 128, False), (128, 192, False)],
)
def test_cudnn_is_left_out_where_tiles_are_not_full(queries: int, keys: int, full: bool) -> None:
    assert fills_tiles(*parts(queries, keys)[:2]) == full
    assert is_left_out(queries, keys) == (not full)
    assert may_run("cudnn")


def test_nothing_is_left_out_without_gradients() -> None:
    with torch.no_grad():
        assert not is_left_out(64, 64)


def test_the_kernels_chosen_around_it_stay_the_only_ones() -> None:
    with (
        twice_differentiable(),
        patch.object(Tensor, "is_cuda", True),
        module._kernels(*parts(64, 64)[:2]),
    ):
        assert not may_run("flash")
        assert may_run("math")


@pytest.mark.parametrize(
    "chosen", [[SDPBackend.CUDNN_ATTENTION, SDPBackend.MATH], [SDPBackend.CUDNN_ATTENTION]]
)
def test_kernels_that_are_not_allowed_stay_so(chosen: list[SDPBackend]) -> None:
    with (
        sdpa_kernel(chosen),
        patch.object(Tensor, "is_cuda", True),
        module._kernels(*parts(64, 64)[:2]),
    ):
        assert not may_run("flash")
        assert not may_run("mem_efficient")
        assert may_run("math") == (SDPBackend.MATH in chosen)


@pytest.mark.slow
def test_the_compiler_takes_the_choice_into_its_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_kernels", lambda queries, keys: sdpa_kernel(module.SOUND))
    queries, keys, values = (part.requires_grad_() for part in parts(64, 64))
    compiled = torch.compile(fused_attention, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(
        compiled(queries, keys, values), fused_attention(queries, keys, values)
    )
    torch.compiler.reset()


def pulled_down(places: int, scores: float, *, causal: bool) -> tuple[MultiHeadAttention, Tensor]:
    """A layer all of whose scores are about so low, and what it reads."""
    layer = MultiHeadAttention(128, 2, causal=causal).cuda()
    with torch.no_grad():
        layer.c_attn.weight[:256] *= 0.1
        root = abs(scores) ** 0.5 * layer.head_size**0.25
        layer.c_attn.bias.zero_()
        layer.c_attn.bias[:256:64] = torch.tensor([1.0, 1.0, -1.0, -1.0], device="cuda") * root
    return layer, torch.randn(4, places, 128, device="cuda", requires_grad=True)


@on_cuda
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("places", [64, 65, 127, 128, 192])
@pytest.mark.parametrize("masked", [False, True])
def test_gradients_are_finite_where_all_scores_are_low(
    places: int, causal: bool, masked: bool
) -> None:
    layer, x = pulled_down(places, -120.0, causal=causal)
    mask = torch.ones(4, places, places, dtype=torch.bool, device="cuda") if masked else None
    with torch.autocast("cuda", torch.bfloat16):
        found = torch.autograd.grad(layer(x, mask).float().square().sum(), [x, *layer.parameters()])
    # Queries and keys this large are rounded by up to 0.06: the formula has to see the same ones.
    with sdpa_kernel(SDPBackend.MATH), torch.autocast("cuda", torch.bfloat16):
        read = layer(x, mask).float()
    wanted = torch.autograd.grad(read.square().sum(), [x, *layer.parameters()])
    assert all(bool(part.isfinite().all()) for part in found)
    for ours, exact in zip(found, wanted, strict=True):
        assert (ours - exact).norm() <= 0.05 * exact.norm() + 1e-3


@on_cuda
def test_cross_attention_has_finite_gradients_where_all_scores_are_low() -> None:
    layer = CrossAttention(128, 2).cuda()
    with torch.no_grad():
        layer.q_attn.bias[::64] = 31.0
        layer.c_attn.bias[:128:64] = -31.0
    x, memory = (torch.randn(4, size, 128, device="cuda", requires_grad=True) for size in (64, 192))
    with torch.autocast("cuda", torch.bfloat16):
        read = layer(x, layer.project(memory))
    found = torch.autograd.grad(read.float().square().sum(), [x, memory, *layer.parameters()])
    assert all(bool(part.isfinite().all()) for part in found)


@on_cuda
@pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")
def test_compiled_attention_has_finite_gradients_where_all_scores_are_low() -> None:
    layer, x = pulled_down(64, -120.0, causal=False)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    with torch.autocast("cuda", torch.bfloat16):
        read = compiled(x)
    found = torch.autograd.grad(read.float().square().sum(), [x, *layer.parameters()])
    assert all(bool(part.isfinite().all()) for part in found)
    torch.compiler.reset()
