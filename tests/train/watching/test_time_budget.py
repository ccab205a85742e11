"""What watching may take of a run's time: 2 % of the first 30 s, 1 % of the rest."""

import time
import weakref
from typing import ClassVar

import pytest
import torch

from netwright.train.watching.time_budget import LEAST, Clock, TimeBudget, allowed
from tests.repetition import for_each

CPU = torch.device("cpu")


class Time:
    """Both clocks, set by hand."""

    def __init__(self) -> None:
        self.world = self.thread = 0.0

    def budget(self, device: torch.device = CPU) -> TimeBudget:
        return TimeBudget(device, Clock(lambda: self.world, lambda: self.thread))

    def look(self, budget: TimeBudget, seconds: float, kind: str = "a") -> None:
        with budget.spending(kind):
            self.thread += seconds


@for_each(
    ("seconds", "wanted"), [(0, 0.15), (3, 0.15), (10, 0.2), (30, 0.6), (40, 0.7), (130, 1.6)]
)
def test_what_is_allowed_by_hand(seconds: float, wanted: float) -> None:
    assert allowed(seconds) == pytest.approx(wanted)


def test_a_look_is_granted_while_there_is_time_for_one_like_those_before() -> None:
    clocks = Time()
    budget = clocks.budget()
    for _ in range(2):
        assert budget.grants("a")
        clocks.look(budget, 0.06)
    assert budget.total == pytest.approx(0.12)
    assert not budget.grants("a")
    assert budget.granted["a"] == 2
    clocks.world = 10.0
    assert budget.grants("a")


def test_the_first_of_a_kind_is_granted_by_a_guess() -> None:
    clocks = Time()
    budget = clocks.budget()
    assert not budget.grants("b", guess=LEAST + 0.01)
    assert budget.grants("b", guess=LEAST)
    clocks.look(budget, 0.01, "b")
    assert budget.grants("b", guess=100.0)  # it is known now


def test_kinds_share_the_time() -> None:
    clocks = Time()
    budget = clocks.budget()
    assert budget.grants("a")
    clocks.look(budget, 0.1)
    assert not budget.grants("b", guess=0.1)


def test_what_a_look_takes_is_counted_where_it_fails_too() -> None:
    clocks = Time()
    budget = clocks.budget()
    with pytest.raises(KeyError), budget.spending("a"):
        clocks.thread += 0.1
        raise KeyError
    assert budget.total == pytest.approx(0.1)


class Event:
    """One of CUDA's, of a device that is done with all before a place."""

    made: ClassVar[list["Event"]] = []
    done = 0

    def __init__(self, *, enable_timing: bool) -> None:
        assert enable_timing
        self.made.append(self)
        self.place = len(self.made)

    def record(self) -> None:
        """Queued."""

    def query(self) -> bool:
        return self.place <= Event.done

    def elapsed_time(self, end: "Event") -> float:
        return 300.0 * (end.place - self.place)  # milliseconds


def test_the_device_counts_where_it_takes_longer_and_when_it_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(Event, "made", [])
    clocks = Time()
    budget = clocks.budget(torch.device("cuda"))
    clocks.look(budget, 0.1)
    clocks.look(budget, 0.5)
    assert budget.total == pytest.approx(0.6)
    monkeypatch.setattr(Event, "done", 2)
    assert budget.total == pytest.approx(0.3 + 0.5)
    monkeypatch.setattr(Event, "done", 4)
    assert budget.total == pytest.approx(0.3 + 0.5)  # the host took longer


def test_a_run_that_has_ended_keeps_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "Event", Event)
    made: list[Event] = []
    monkeypatch.setattr(Event, "made", made)
    clocks = Time()
    budget = clocks.budget(torch.device("cuda"))
    clocks.look(budget, 0.1)
    kept = weakref.ref(made.pop())
    budget.let_go()
    assert kept() is None
    assert budget.total == pytest.approx(0.1)


def test_other_programs_do_not_lengthen_a_look() -> None:
    budget = TimeBudget(CPU)
    with budget.spending("a"):
        time.sleep(0.02)
    assert budget.elapsed > 0.019
    assert budget.total < 0.015
    assert budget.busy < 0.015


def test_a_device_is_busy_while_the_thread_waits_for_it() -> None:
    clocks = Time()
    on_cpu, on_cuda = clocks.budget(), clocks.budget(torch.device("cuda"))
    clocks.world, clocks.thread = 5.0, 2.0
    assert (on_cpu.busy, on_cuda.busy) == (2.0, 5.0)
