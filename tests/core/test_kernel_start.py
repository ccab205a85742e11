"""A kernel is made once for a kind of arguments, and started as it is for the next ones."""

from pathlib import Path

import pytest
import torch

from netwright.core.kernel_start import (
    Kernel,
    can_run,
    tiles,
    wait_for_kernels,
    wake_kernels,
    width,
)

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")

if torch.cuda.is_available():
    import triton.language as tl

    @Kernel
    def add_one(x, out, count, block: tl.constexpr) -> None:  # type: ignore[no-untyped-def]
        """The numbers and one."""
        at = tl.program_id(0) * block + tl.arange(0, block)
        tl.store(out + at, tl.load(x + at, mask=at < count) + 1, mask=at < count)


@needs_cuda
def test_later_starts_compute_the_same_also_of_tensors_that_begin_elsewhere() -> None:
    x = torch.arange(201.0, device="cuda")
    for first in (0, 4, 1, 0):
        part = x[first : first + 100]
        out = torch.zeros(100, device="cuda")
        add_one.start("floats", (tiles(100, 64), 1), (part, out), (100,), {"block": 64})
        assert torch.equal(out, part + 1)
    assert len(add_one.made) == 1


@needs_cuda
@pytest.mark.parametrize("convolves", [True, False])
def test_kernels_are_used_once_beside_this_thread_and_take_no_draws(
    convolves: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    wake_kernels.cache_clear()
    draws, device = torch.cuda.get_rng_state(), torch.device("cuda", 0)
    thread = wake_kernels(device, convolves=convolves)
    assert wake_kernels(device, convolves=convolves) is thread
    wait_for_kernels()
    assert not thread.is_alive()
    assert list(tmp_path.rglob("nothing.json"))
    assert torch.equal(torch.cuda.get_rng_state(), draws)


def test_a_device_that_is_not_there_is_told_of_where_it_is_wanted_not_here() -> None:
    thread = wake_kernels(torch.device("cuda", 77), convolves=True)
    wait_for_kernels()
    assert not thread.is_alive()
    wake_kernels.cache_clear()


def fail() -> None:
    raise RuntimeError("no C compiler\nand more")


def test_on_a_cpu_nothing_is_tried() -> None:
    assert not can_run(fail, torch.device("cpu"))


def test_a_device_that_fails_is_told_of_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    monkeypatch.setattr("netwright.core.kernel_start.find_spec", lambda name: name)
    device = torch.device("cuda")
    assert can_run(lambda: None, device)
    assert not can_run(fail, device)
    assert "torch's operations run instead: no C compiler\n" in capsys.readouterr().err
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    assert not can_run(lambda: None, device)
    monkeypatch.setattr("netwright.core.kernel_start.find_spec", lambda name: None)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    assert not can_run(lambda: None, device)


def test_tiles_cover_and_are_as_wide_as_the_channels() -> None:
    assert [tiles(count, 4) for count in (1, 4, 5)] == [1, 1, 2]
    assert [width(channels, 128) for channels in (1, 3, 64, 65, 4096)] == [1, 4, 64, 128, 128]
