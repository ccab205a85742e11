"""Which operations take the time of updates, and where host and device wait for each other.

torch's profiler notes each operation that the host starts, and each kernel that a device runs. It
slows the host down, not the kernels: what the device computes in an update is told here, how long
an update takes is not.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch._C._autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from netwright.core.environment import environment
from netwright.inspection.training.update_profile import Operation

MOST = 12  # operations that are told one by one
WAITS = ("StreamSynchronize", "EventSynchronize")  # ends of the calls by which a host waits
ENGINE = "autograd::engine::evaluate_function: "  # before the name of a step back
SILENT = "6"  # the level above which torch's profiler prints nothing of its own


class Watched(NamedTuple):
    """What was seen, an update.

    Args:
        operations: those that took longest; seconds are the device's, on a CPU the host's.
        busy: seconds in which the device computed; None on a CPU.
        host_waits: seconds in which the host waited for the device; None on a CPU.
    """

    operations: tuple[Operation, ...]
    busy: float | None
    host_waits: float | None


class WatchedOperations:
    """Watches a few updates.

    Args:
        device: that computes.
    """

    def __init__(self, device: torch.device) -> None:
        self.on_device = device.type == "cuda"
        cuda = [ProfilerActivity.CUDA] if self.on_device else []
        self._profile = profile(activities=[ProfilerActivity.CPU, *cuda], acc_events=True)
        with environment(KINETO_LOG_LEVEL=SILENT):
            self._profile.start()

    def stop(self) -> None:
        """Watch no longer."""
        self._profile.stop()

    def end(self, updates: int) -> Watched:
        """Stop watching, and tell of the so many updates since it began."""
        self.stop()
        events: list[Any] = list(self._profile.events() or ())  # type: ignore[no-untyped-call]
        averages: list[Any] = list(self._profile.key_averages())
        operations = _longest(averages, updates, on_device=self.on_device)
        kernels = [
            (event.time_range.start, event.time_range.end)
            for event in events
            if event.device_type == DeviceType.CUDA and not event.is_user_annotation
        ]
        if not kernels:
            return Watched(operations, None, None)
        waits = sum(
            event.time_range.elapsed_us()
            for event in events
            if event.device_type == DeviceType.CPU and event.name.endswith(WAITS)
        )
        return Watched(
            operations,
            busy=covered(kernels) / 1e6 / updates,
            host_waits=waits / 1e6 / updates,
        )


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """How long at least one of these spans of time lasted."""
    whole, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        whole += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return whole


def _longest(averages: Iterable[Any], updates: int, *, on_device: bool) -> tuple[Operation, ...]:
    """The operations by their own time, without those that they start."""
    calls, seconds = Counter[str](), Counter[str]()
    for row in averages:
        if row.device_type == DeviceType.CPU and not row.is_user_annotation:
            name = row.key.removeprefix("aten::").removeprefix(ENGINE)
            own = row.self_device_time_total if on_device else row.self_cpu_time_total
            calls[name] += row.count
            seconds[name] += own
    order = sorted(seconds, key=lambda name: -seconds[name])
    shown = [name for name in order[:MOST] if seconds[name] > 0]
    rows = {name: [name] for name in shown} | {"others": order[len(shown) :]}
    return tuple(
        Operation(
            name=name,
            calls=sum(calls[one] for one in group) / updates,
            seconds=sum(seconds[one] for one in group) / 1e6 / updates,
        )
        for name, group in rows.items()
        if any(seconds[one] > 0 for one in group)
    )
