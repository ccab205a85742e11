"""Laps: time belongs to the part that a call ends, and to the update that is open then."""

from typing import Any

import pytest
import torch

from netwright.train.profiling.laps import Laps

CPU = torch.device("cpu")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [10.0]
    monkeypatch.setattr("netwright.train.profiling.laps.time.perf_counter", lambda: now[0])
    return now


def walk(laps: Laps, clock: list[float], *way: tuple[float, str]) -> None:
    for seconds, part in way:
        clock[0] += seconds
        laps(part)


def test_seconds_are_added_up_by_part_and_update(clock: list[float]) -> None:
    laps = Laps(CPU)
    laps.begin()
    walk(laps, clock, (1, "data"), (2, "forward"), (4, "backward"), (8, "forward"))
    laps.close()
    walk(laps, clock, (16, "data"))
    laps.close()
    assert laps.read() == [{"data": 1.0, "forward": 10.0, "backward": 4.0}, {"data": 16.0}]


def test_what_comes_before_a_beginning_is_left_out(clock: list[float]) -> None:
    laps = Laps(CPU)
    laps.begin()
    walk(laps, clock, (1, "data"))
    clock[0] += 100
    laps.begin()
    walk(laps, clock, (2, "forward"))
    laps.close()
    assert laps.read() == [{"data": 1.0, "forward": 2.0}]


def test_an_update_that_is_not_over_is_not_told(clock: list[float]) -> None:
    laps = Laps(CPU)
    laps.begin()
    walk(laps, clock, (1, "data"))
    assert laps.read() == []
    assert Laps(CPU).read() == []


def test_a_device_that_is_not_waited_for_has_its_own_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events are recorded, and the last is waited for once, when they are read."""
    waits: list[float] = []

    class Event:
        made = 0.0

        def __init__(self, device: torch.device, *, enable_timing: bool) -> None:
            assert (device.type, enable_timing) == ("cuda", True)

        def record(self) -> None:
            Event.made += 1
            self.at = 1000 * Event.made

        def elapsed_time(self, after: Any) -> float:
            return float(after.at - self.at)

        def synchronize(self) -> None:
            waits.append(self.at)

    monkeypatch.setattr("netwright.train.profiling.laps.torch.Event", Event)
    laps = Laps(torch.device("cuda"))
    laps.begin()
    laps("forward")
    laps("forward")
    laps.close()
    assert waits == []
    assert laps.read() == [{"forward": 2.0}]
    assert waits == [3000.0]
