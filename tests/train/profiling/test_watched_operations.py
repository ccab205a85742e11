"""Operations and waits: those of torch's profiler on a CPU, and of a device's kernels."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch._C._autograd import DeviceType

from netwright.train.profiling import watched_operations as file
from netwright.train.profiling.watched_operations import MOST, WatchedOperations, covered


@pytest.mark.parametrize(
    ("spans", "wanted"),
    [
        ([], 0.0),
        ([(1, 3)], 2.0),
        ([(5, 6), (1, 3)], 3.0),
        ([(1, 4), (2, 3)], 3.0),  # at the same time
        ([(1, 4), (3, 6)], 5.0),
    ],
)
def test_time_in_which_something_ran_is_counted_once(
    spans: list[tuple[float, float]], wanted: float
) -> None:
    assert covered(spans) == wanted


def test_on_a_cpu_operations_are_told_by_their_own_time_and_nobody_waits(
    capfd: pytest.CaptureFixture[str],
) -> None:
    x = torch.ones(64, 64)
    watched = WatchedOperations(torch.device("cpu"))
    for _ in range(4):
        x @ x
    seen = watched.end(2)
    named = {operation.name: operation for operation in seen.operations}
    assert named["mm"].calls == 2.0
    assert named["mm"].seconds > 0
    assert (seen.busy, seen.host_waits) == (None, None)
    assert tuple(capfd.readouterr()) == ("", "")  # torch's profiler would tell of itself


def row(name: str, own: float, *, count: int = 1, **more: Any) -> SimpleNamespace:
    usual = {"device_type": DeviceType.CPU, "is_user_annotation": False, "self_cpu_time_total": 1}
    return SimpleNamespace(
        **{"key": name, "count": count, "self_device_time_total": own, **usual, **more}
    )


def event(name: str, start: float, end: float, kind: DeviceType) -> SimpleNamespace:
    time = SimpleNamespace(start=start, end=end, elapsed_us=lambda: end - start)
    return SimpleNamespace(
        name=name, time_range=time, device_type=kind, is_user_annotation=name == "marked"
    )


def on_device(
    monkeypatch: pytest.MonkeyPatch, rows: list[Any], events: list[Any], updates: int
) -> file.Watched:
    """What is told of these rows and events of a CUDA device, in microseconds."""
    told = SimpleNamespace(
        start=lambda: None, stop=lambda: None, events=lambda: events, key_averages=lambda: rows
    )
    monkeypatch.setattr(file, "profile", lambda **_: told)
    return WatchedOperations(torch.device("cuda")).end(updates)


def test_of_a_device_kernels_and_waits_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        row("aten::mm", 300.0, count=4),
        row("autograd::engine::evaluate_function: MmBackward0", 100.0),
        row("MmBackward0", 40.0, count=3),
        row("aten::view", 0.0),
        row("kernel", 440.0, device_type=DeviceType.CUDA),
        row("Optimizer.step", 9.0, is_user_annotation=True),
    ]
    events = [
        event("kernel", 0, 300, DeviceType.CUDA),
        event("other kernel", 200, 400, DeviceType.CUDA),
        event("marked", 0, 9000, DeviceType.CUDA),
        event("cudaStreamSynchronize", 10, 60, DeviceType.CPU),
        event("cudaLaunchKernel", 10, 6000, DeviceType.CPU),
        event("cudaDeviceSynchronize", 10, 6000, DeviceType.CPU),  # by the profiler itself
    ]
    seen = on_device(monkeypatch, rows, events, updates=2)
    assert [(one.name, one.calls) for one in seen.operations] == [("mm", 2.0), ("MmBackward0", 2.0)]
    assert [one.seconds for one in seen.operations] == pytest.approx([150e-6, 70e-6])
    assert seen.busy == pytest.approx(200e-6)
    assert seen.host_waits == pytest.approx(25e-6)


def test_many_operations_end_in_a_row_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row(f"aten::op{place}", 10.0 + place) for place in range(MOST + 3)]
    seen = on_device(monkeypatch, rows, [], updates=1)
    assert len(seen.operations) == MOST + 1
    others = seen.operations[-1]
    assert (others.name, others.calls) == ("others", 3.0)
    assert others.seconds == pytest.approx(33e-6)


def test_where_no_kernel_was_seen_nothing_is_said_of_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = on_device(monkeypatch, [], [event("cudaStreamSynchronize", 1, 2, DeviceType.CPU)], 1)
    assert seen == ((), None, None)
