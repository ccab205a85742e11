"""Norm, sum and ReLU: torch's operations where no kernel fits, one operation where one does."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.seeding import generator
from netwright.layers.convolution import fused_norm
from netwright.layers.convolution.fused_norm import has_fused_norm, normalized

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")


def images(*shape: int) -> Tensor:
    values = torch.randn(shape, generator=generator(0, "images"))
    return values.contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("rectifies", [True, False])
@pytest.mark.parametrize("adds", [True, False])
def test_on_a_cpu_torchs_operations_run_one_after_the_other(rectifies: bool, adds: bool) -> None:
    norm, x = nn.BatchNorm2d(4), images(3, 4, 5, 5)
    added = images(3, 4, 5, 5) if adds else None
    wanted = copy.deepcopy(norm)(x)
    wanted = wanted if added is None else wanted + added
    wanted = functional.relu(wanted) if rectifies else wanted
    assert torch.equal(normalized(norm, x, added=added, rectifies=rectifies), wanted)
    assert norm.num_batches_tracked == 1


@needs_cuda
def test_running_statistics_move_as_torchs_do() -> None:
    x = images(8, 4, 5, 5).cuda().to(torch.bfloat16)
    plain = nn.BatchNorm2d(4, momentum=0.3).cuda()
    quick = copy.deepcopy(plain)
    assert has_fused_norm(quick, x)
    for _ in range(3):
        plain(x)
        normalized(quick, x)
    for name, buffer in plain.named_buffers():
        torch.testing.assert_close(quick.get_buffer(name), buffer)


UNFIT: dict[str, Callable[[nn.BatchNorm2d, Tensor], Any]] = {
    "evaluating": lambda norm, x: (norm.eval(), x),
    "float32": lambda norm, x: (norm, x.float()),
    "channel after channel": lambda norm, x: (norm, x.contiguous()),
    "without weights": lambda _, x: (nn.BatchNorm2d(4, affine=False).cuda(), x),
    "without statistics": lambda _, x: (nn.BatchNorm2d(4, track_running_stats=False).cuda(), x),
    "means of all batches": lambda _, x: (nn.BatchNorm2d(4, momentum=None).cuda(), x),
    "of half precision": lambda norm, x: (norm.bfloat16(), x),
    "one number a channel": lambda norm, x: (norm, x[:1, :, :1, :1]),
    "looked at": lambda norm, x: (norm.register_forward_hook(print) and norm, x),
}


@needs_cuda
@pytest.mark.parametrize("case", UNFIT)
def test_what_kernels_do_not_take_is_left_to_torch(case: str) -> None:
    norm, x = nn.BatchNorm2d(4).cuda(), images(8, 4, 5, 5).cuda().to(torch.bfloat16)
    assert has_fused_norm(norm, x)
    assert not has_fused_norm(*UNFIT[case](norm, x))


# torch's compiler imports what torch itself has deprecated.
@pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")
def test_a_compiler_takes_torchs_operations_where_no_kernel_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fused_norm, "DEVICES", ("cpu",))
    norm, x = nn.BatchNorm2d(4), images(8, 4, 5, 5).to(torch.bfloat16)
    wanted = normalized(copy.deepcopy(norm), x)
    torch.compiler.reset()
    quick = torch.compile(normalized, backend="eager", fullgraph=True)
    assert torch.equal(quick(norm, x), wanted)
    assert norm.num_batches_tracked == 1


@needs_cuda
def test_where_second_derivatives_are_wanted_nothing_is_fused() -> None:
    norm, x = nn.BatchNorm2d(4).cuda(), images(8, 4, 5, 5).cuda().to(torch.bfloat16)
    with torch.backends.cudnn.flags(enabled=False):
        assert not has_fused_norm(norm, x)
