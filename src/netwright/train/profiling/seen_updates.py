"""From what was seen of a few updates to their profile, beside the rates of the hardware.

What each part has to do at least, in the unit that bounds it:

    forward, backward       FLOPs
    data                    the batch is read and written
    guard                   gradients are read
    optimizer               weights and moments are read and written, gradients are read
"""

from dataclasses import dataclass
from statistics import median
from typing import Literal

import torch

from netwright.core.devices import describe_device
from netwright.inspection.training.update_profile import HeldMemory, UpdatePart, UpdateProfile
from netwright.train.precision import Precision
from netwright.train.profiling.batch_work import BatchWork
from netwright.train.profiling.hardware_rates import hardware_rates, number_format
from netwright.train.profiling.watched_operations import Watched

PARTS = ("data", "forward", "backward", "guard", "optimizer", "measures", "callbacks")


@dataclass(frozen=True, kw_only=True)
class SeenUpdates:
    """What was measured on the way.

    Args:
        precision: of the run.
        unit: what speed is counted in.
        amount: of it, an update.
        seconds: of a plain update, the median.
        is_graph: plain updates were started as one CUDA graph.
        by_part: seconds by part, of each update that was looked into.
        batches: of an update.
        batch_bytes: of a batch.
        gradients: bytes of them; the weights that they are of have as many.
        held: bytes by kind, between two updates.
        peak: bytes, the most that was held at a time.
        watched: operations and waits.
        work: of a batch; None: it could not be counted.
        not_counted: why, in a few words.
    """

    precision: Precision
    unit: Literal["samples", "tokens"]
    amount: float
    seconds: float
    is_graph: bool
    by_part: list[dict[str, float]]
    batches: int
    batch_bytes: int
    gradients: int
    held: dict[str, int]
    peak: int
    watched: Watched
    work: BatchWork | None
    not_counted: str


def put_together(seen: SeenUpdates, device: torch.device) -> UpdateProfile:
    """The profile; the rates of the hardware are measured where they are not known."""
    work = seen.work
    kind = number_format(seen.precision, device, convolves=work is not None and work.convolves)
    parts = _parts(seen)
    reached = [part.flops / part.seconds for part in parts if part.seconds]
    rates = hardware_rates(device, kind, seen=max(reached, default=0.0))
    return UpdateProfile(
        device=describe_device(device),
        number_format=kind,
        unit=seen.unit,
        amount=seen.amount,
        seconds=seen.seconds,
        is_graph=seen.is_graph,
        updates=len(seen.by_part),
        parts=parts,
        operations=seen.watched.operations,
        busy=seen.watched.busy,
        host_waits=seen.watched.host_waits,
        flops_per_second=rates.flops,
        bytes_per_second=rates.bytes,
        memory=_memory(seen, device),
        peak=seen.peak,
        peak_of="device" if device.type == "cuda" else "process",
        not_counted=seen.not_counted,
    )


def _parts(seen: SeenUpdates) -> tuple[UpdatePart, ...]:
    flops = {}
    if seen.work is not None:
        passes = {"forward": seen.work.forward, "backward": seen.work.backward}
        flops = {name: seen.batches * count for name, count in passes.items()}
    moved = {
        "data": 2 * seen.batches * seen.batch_bytes,
        "guard": seen.gradients,
        "optimizer": 3 * seen.gradients + 2 * seen.held["optimizer"],
    }
    return tuple(
        UpdatePart(
            name=name,
            seconds=median(update.get(name, 0.0) for update in seen.by_part),
            flops=flops.get(name, 0),
            bytes=moved.get(name, 0),
        )
        for name in PARTS
        if any(name in update for update in seen.by_part)
    )


def _memory(seen: SeenUpdates, device: torch.device) -> tuple[HeldMemory, ...]:
    kinds = {
        "weights": seen.held["weights"],
        "gradients": seen.gradients,
        "optimizer": seen.held["optimizer"],
        "buffers": seen.held["buffers"],
        **({} if seen.work is None else {"activations": seen.work.activations}),
    }
    if device.type == "cuda":  # elsewhere the peak is of Python and torch, too
        kinds["data, workspaces, rest"] = max(0, seen.peak - sum(kinds.values()))
    return tuple(HeldMemory(kind=kind, bytes=count) for kind, count in kinds.items())
