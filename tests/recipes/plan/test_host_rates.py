"""The rates of a host are bytes by the least of the seconds that were taken."""

import pytest
import torch

from netwright.recipes.plan import host_rates
from netwright.recipes.plan.host_rates import copied, measure_host, quickest, stepped

CPU = torch.device("cpu")


class Clock:
    """A clock that two looks at it move by the next of these seconds."""

    def __init__(self, *seconds: float) -> None:
        self.times = [time for one in seconds for time in (0.0, one)]

    def perf_counter(self) -> float:
        return self.times.pop(0)


def test_the_quickest_of_three_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_rates, "time", Clock(3.0, 2.0, 4.0))
    done: list[int] = []
    assert quickest(lambda: done.append(1)) == 2.0
    assert len(done) == 3


def test_a_step_reads_four_numbers_of_a_weight_and_writes_three(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(host_rates, "time", Clock(0.5, 0.25, 0.5))
    assert stepped(100) == (4 * 4 + 3 * 4) * 100 / 0.25
    monkeypatch.setattr(host_rates, "time", Clock(0.5, 0.25, 0.5))
    assert copied(CPU, 100) == 100 / 0.25


def test_gpus_share_their_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_rates, "stepped", lambda weights: 80.0)
    monkeypatch.setattr(host_rates, "copied", lambda device: 7.0)
    found = []
    for gpus in (0, 1, 4):
        monkeypatch.setattr(torch.cuda, "device_count", lambda gpus=gpus: gpus)
        found.append(measure_host(CPU))
    none, one, four = found
    assert none == one and one.stepping == 80.0 and one.copies == four.copies == 7.0
    assert four.memory == one.memory / 4 and four.stepping == 20.0
