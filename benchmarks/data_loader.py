"""A run that is fed by a DataLoader beside a loop by hand over the same DataLoader.

Measured: a few epochs of an MLP 784-256-128-10, by netwright with its defaults on (progress,
history, the training metric, the doctor, the guard against what is not finite, checkpoints) and by
a loop by hand that adds up loss and accuracy, over a loader that stacks single rows, one that
indexes whole batches, and one with two workers. On CUDA also a ResNet-18 in bfloat16 on images of
3 x 64 x 64.

In each round both train once from the same weights, in an order drawn anew; the first round warms
up. What is prepared before training (the first batches are looked at) is off the clock. Without
workers the clock counts CPU-seconds on a CPU; else wall seconds. Adam is each one's default, as
people write it (netwright's is fused, torch's is not), or torch's foreach for both.

    ratio     = median over rounds of (seconds of netwright / seconds by hand)
    an epoch  = the same of one epoch without the run's start and end, which do not grow with it:
                seconds between the ends of the first and the last epoch

Only netwright leaves a run folder: its last checkpoint is written, hashed and flushed under the
clock, 134 MB for the ResNet-18 with Adam's moments.
"""

import argparse
import contextlib
import copy
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from contest import BatchIndexed, unchanged, unseen
from reporting import Row, add_json_option, show
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from netwright.core.seeding import seeded
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.gradient_fit import gradient_fit
from netwright.recipes.fitting.prepared import RunContext
from netwright.train.callback import Callback
from netwright.train.state import TrainState

BATCH = 128
LOADERS = ("single rows", "whole batches", "two workers")
ADAMS = ("default", "foreach")
NETWORKS = ("mlp", "resnet18")
CONTESTANTS = ("netwright", "by hand")
COLUMNS = {
    "network": ("name", ""),
    "loader": ("loader", ""),
    "Adam": ("adam", ""),
    "netwright, s": ("netwright_s", ".3f"),
    "by hand, s": ("by_hand_s", ".3f"),
    "ratio": ("ratio", ".3f"),
    "smallest": ("smallest", ".3f"),
    "largest": ("largest", ".3f"),
    "an epoch": ("epoch_ratio", ".3f"),
}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=7, help="counted rounds (7)")
    options.add_argument("--batches", type=int, default=200, help="of one epoch (200)")
    options.add_argument("--epochs", type=int, default=3, help="of one run, two or more (3)")
    options.add_argument("--network", choices=NETWORKS, help="one of the networks alone")
    options.add_argument("--loader", choices=LOADERS, help="one of the loaders alone")
    options.add_argument("--adam", choices=ADAMS, help="one of the two alone")
    options.add_argument("--device", help="cuda where there is one, unless told")
    add_json_option(options)
    return options


@dataclass(frozen=True, kw_only=True)
class Job:
    """What both contestants train."""

    name: str
    model: nn.Module
    loader: DataLoader[Any]
    epochs: int
    device: str
    adam: str

    @property
    def is_half(self) -> bool:
        return self.name != "mlp"

    def clock(self) -> Callable[[], float]:
        """CPU-seconds where one process does all the work, else wall seconds of finished work."""
        if self.device == "cpu" and not self.loader.num_workers:
            return time.process_time

        def now() -> float:
            if self.device == "cuda":
                torch.cuda.synchronize()
            return time.perf_counter()

        return now


def loaders(shape: tuple[int, ...], batches: int, *, pinned: bool) -> dict[str, DataLoader[Any]]:
    """Three loaders of the same rows."""
    rows = batches * BATCH
    inputs = torch.randn(rows, *shape, generator=torch.Generator().manual_seed(0))
    tensors = inputs, torch.arange(rows) % 10
    usual: dict[str, Any] = {"batch_size": BATCH, "shuffle": True, "pin_memory": pinned}
    made = (
        DataLoader(TensorDataset(*tensors), **usual),
        DataLoader(BatchIndexed(*tensors), **usual, collate_fn=unchanged),
        DataLoader(TensorDataset(*tensors), **usual, num_workers=2),
    )
    return dict(zip(LOADERS, made, strict=True))


def network(name: str) -> nn.Module:
    with seeded(0):
        if name == "mlp":
            layers = [nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU()]
            return nn.Sequential(*layers, nn.Linear(128, 10))
        from torchvision.models import resnet18

        return resnet18(num_classes=10)


class Laps(Callback):
    """The moments at which epochs ended."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now, self.ends = now, list[float]()

    def on_epoch_end(self, state: TrainState) -> None:
        self.ends.append(self.now())


class Taken(NamedTuple):
    """Seconds of a whole run, and of one epoch of it."""

    whole: float
    epoch: float

    @classmethod
    def of(cls, started: float, ends: list[float], now: float) -> "Taken":
        return cls(now - started, (ends[-1] - ends[0]) / (len(ends) - 1))


def by_hand(job: Job) -> Taken:
    """What everybody writes, with the two numbers that everybody wants to see."""
    now, device, ends = job.clock(), job.device, list[float]()
    model = copy.deepcopy(job.model)
    started = now()
    model = model.to(device).train()
    kernel = True if job.adam == "foreach" else None
    optimizer = torch.optim.Adam(model.parameters(), foreach=kernel)
    for _ in range(job.epochs):
        loss_sum, correct = torch.zeros((), device=device), torch.zeros((), device=device)
        for batch in job.loader:
            inputs, labels = (part.to(device, non_blocking=True) for part in batch)
            half = torch.autocast(device, torch.bfloat16)
            with half if job.is_half else contextlib.nullcontext():
                logits = model(inputs)
                loss = F.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss_sum += loss.detach() * len(labels)
            correct += (logits.detach().argmax(dim=1) == labels).sum()
        float(loss_sum + correct)
        ends.append(now())
    return Taken.of(started, ends, now())


def by_netwright(job: Job) -> Taken:
    """What `nw.fit` does between looking at the data and measuring the result."""
    now = job.clock()
    prepared = prepare(
        copy.deepcopy(job.model),
        job.loader,
        epochs=job.epochs,
        lr=1e-3,
        kernel="foreach" if job.adam == "foreach" else "auto",
        device=job.device,
        precision="bf16-mixed" if job.is_half else "fp32",
    )
    with tempfile.TemporaryDirectory() as folder, unseen():
        laps, started = Laps(now), now()
        gradient_fit(prepared, RunContext(folder=Path(folder), extra=[laps]))
        return Taken.of(started, laps.ends, now())


def measure(job: Job, loader: str, rounds: int) -> Row:
    order, taken = random.Random(0), []
    turns = dict(zip(CONTESTANTS, (by_netwright, by_hand), strict=True))
    for _ in range(rounds + 1):
        taken.append({who: turns[who](job) for who in order.sample(CONTESTANTS, 2)})
    ratios = [one["netwright"].whole / one["by hand"].whole for one in taken[1:]]
    epochs = [one["netwright"].epoch / one["by hand"].epoch for one in taken[1:]]
    return {
        "name": job.name,
        "loader": loader,
        "adam": job.adam,
        "netwright_s": statistics.median(one["netwright"].whole for one in taken[1:]),
        "by_hand_s": statistics.median(one["by hand"].whole for one in taken[1:]),
        "ratio": statistics.median(ratios),
        "smallest": min(ratios),
        "largest": max(ratios),
        "epoch_ratio": statistics.median(epochs),
    }


def main() -> None:
    options = parser()
    asked = options.parse_args()
    if asked.epochs < 2:
        options.error(f"--epochs must be 2 or more, to tell an epoch apart, got {asked.epochs}")
    device = asked.device or ("cuda" if torch.cuda.is_available() else "cpu")
    rows: list[Row] = []
    usual = NETWORKS if device == "cuda" else NETWORKS[:1]
    for name in usual if asked.network is None else (asked.network,):
        shape, model = (784,) if name == "mlp" else (3, 64, 64), network(name)
        for kind, loader in loaders(shape, asked.batches, pinned=device == "cuda").items():
            for adam in ADAMS if asked.adam is None else (asked.adam,):
                if asked.loader in {None, kind}:
                    job = Job(
                        name=name,
                        model=model,
                        loader=loader,
                        epochs=asked.epochs,
                        device=device,
                        adam=adam,
                    )
                    rows.append(measure(job, kind, asked.rounds))
                    # At once: a benchmark that is cut short has shown what it saw.
                    print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    title = f"{asked.epochs} epochs of {asked.batches} batches of {BATCH} on {device}"
    show(rows, COLUMNS, title=title, as_json=asked.json)


if __name__ == "__main__":
    main()
