"""A profile for tests: numbers that can be worked out in the head."""

from dataclasses import replace
from typing import Any

from netwright.inspection.training.update_profile import (
    HeldMemory,
    Operation,
    UpdatePart,
    UpdateProfile,
)

ON_A_CPU = UpdateProfile(
    device="cpu (abacus)",
    number_format="float32",
    unit="samples",
    amount=128.0,
    seconds=0.01,
    is_graph=False,
    updates=10,
    parts=(
        UpdatePart(name="data", seconds=0.001, bytes=2_000_000),
        UpdatePart(name="forward", seconds=0.003, flops=3_000_000),
        UpdatePart(name="backward", seconds=0.004, flops=6_000_000),
        UpdatePart(name="measures", seconds=0.002),
    ),
    operations=(
        Operation(name="mm", calls=3.0, seconds=0.006),
        Operation(name="others", calls=40.333, seconds=0.002),
    ),
    busy=None,
    host_waits=None,
    flops_per_second=3e9,
    bytes_per_second=8e9,
    memory=(HeldMemory(kind="weights", bytes=400_000), HeldMemory(kind="buffers", bytes=0)),
    peak=500_000_000,
    peak_of="process",
    not_counted="",
)
ON_CUDA = replace(
    ON_A_CPU,
    device="an accelerator",
    unit="tokens",
    seconds=0.002,
    is_graph=True,
    busy=0.0015,
    host_waits=0.0005,
    peak_of="device",
)


def uncounted(reason: str, **more: Any) -> UpdateProfile:
    parts = tuple(replace(part, flops=0) for part in ON_A_CPU.parts)
    return replace(ON_A_CPU, parts=parts, not_counted=reason, **more)
