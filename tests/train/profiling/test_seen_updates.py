"""From what was seen to a profile: medians, work by part, and memory that adds up to the peak."""

from dataclasses import replace

import pytest
import torch

from netwright.inspection.training.update_profile import HeldMemory, Operation, UpdatePart
from netwright.train.profiling import seen_updates as file
from netwright.train.profiling.batch_work import BatchWork
from netwright.train.profiling.hardware_rates import HardwareRates
from netwright.train.profiling.seen_updates import SeenUpdates, put_together
from netwright.train.profiling.watched_operations import Watched

CPU = torch.device("cpu")
MM = Operation(name="mm", calls=1.0, seconds=0.1)
SEEN = SeenUpdates(
    precision="fp32",
    unit="tokens",
    amount=64.0,
    seconds=2.0,
    is_graph=False,
    by_part=[
        {"forward": 1.0, "data": 0.5, "guard": 0.1},
        {"forward": 3.0, "data": 0.5, "guard": 0.1, "callbacks": 9.0},
        {"forward": 2.0, "data": 0.5, "optimizer": 0.25},
    ],
    batches=4,
    batch_bytes=10,
    gradients=100,
    held={"weights": 120, "buffers": 7, "optimizer": 200},
    peak=1000,
    watched=Watched((MM,), None, None),
    work=BatchWork(forward=30, backward=60, activations=300, convolves=True),
    not_counted="",
)


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float]]:
    """What the rates of the hardware were asked with."""
    found: list[tuple[str, float]] = []

    def rates(device: torch.device, kind: str, *, seen: float) -> HardwareRates:
        found.append((kind, seen))
        return HardwareRates(5e9, 7e9)

    monkeypatch.setattr(file, "hardware_rates", rates)
    return found


def test_parts_are_medians_in_their_order_with_the_work_that_they_have() -> None:
    assert put_together(SEEN, CPU).parts == (
        UpdatePart(name="data", seconds=0.5, bytes=2 * 4 * 10),
        UpdatePart(name="forward", seconds=2.0, flops=4 * 30),
        UpdatePart(name="guard", seconds=0.1, bytes=100),
        UpdatePart(name="optimizer", seconds=0.0, bytes=3 * 100 + 2 * 200),
        UpdatePart(name="callbacks", seconds=0.0),
    )


def test_the_rest_is_taken_over(asked: list[tuple[str, float]]) -> None:
    profile = put_together(SEEN, CPU)
    assert (profile.unit, profile.amount, profile.seconds) == ("tokens", 64.0, 2.0)
    assert (profile.updates, profile.operations) == (3, (MM,))
    assert (profile.flops_per_second, profile.bytes_per_second) == (5e9, 7e9)
    assert (profile.peak, profile.peak_of, profile.number_format) == (1000, "process", "float32")
    assert asked == [("float32", 4 * 30 / 2.0)]  # what the forward pass has reached


def test_on_a_device_what_is_left_of_its_peak_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "describe_device", lambda device: "an accelerator")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    profile = put_together(SEEN, torch.device("cuda"))
    assert sum(held.bytes for held in profile.memory) == profile.peak
    assert profile.memory[-1].bytes == 1000 - (120 + 100 + 200 + 7 + 300)
    assert (profile.peak_of, profile.number_format) == ("device", "tf32")


def test_what_was_not_counted_is_left_out() -> None:
    profile = put_together(replace(SEEN, work=None, not_counted="no reason"), CPU)
    assert profile.flops == 0
    assert profile.not_counted == "no reason"
    assert profile.memory == tuple(
        HeldMemory(kind=kind, bytes=count)
        for kind, count in (
            ("weights", 120),
            ("gradients", 100),
            ("optimizer", 200),
            ("buffers", 7),
        )
    )
