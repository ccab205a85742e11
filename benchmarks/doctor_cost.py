"""What watching costs: the share of a short run that the doctor and the kept path take.

Measured: 200 steps of an MLP on the digits of MNIST, on CUDA also of ResNet-50 on images of
3 x 224 x 224 in bfloat16, each with the callbacks that every run has: plain, with the doctor, with
the path of the weights (which a network as large as ResNet-50 does not keep), with both. All are
trained from the same weights on the same batches.

In each round every variant trains once, in an order drawn anew; the first round warms up and is
shown by itself, since what runs for the first time is loaded then. The clock counts wall seconds;
a graphics card is waited for.

    cost = median over rounds of (seconds with it / seconds without - 1)

With --seconds one run a network lasts so long, and what its looks and snapshots took is shown by
the length of the run: of this thread, or of the device where that took longer. An update that is
watched does not run as a CUDA graph, which is no part of it. The bound is 5 % of the first 30 s
(or 0.15 s) and 1 % of what follows.
"""

import argparse
import copy
import random
import statistics
import tempfile
import time
from pathlib import Path

import torch
from reporting import Row, add_json_option, show
from torch import Tensor, nn

from netwright.core.seeding import seeded
from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.dataset import Data
from netwright.models.catalog import MODELS
from netwright.train.callback import Callback
from netwright.train.callbacks.doctor import Doctor
from netwright.train.callbacks.keep_path import KeepPath
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.callbacks.time_limit import TimeLimit
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.tasks.catalog import task_for
from netwright.train.trainer import Trainer
from netwright.train.watching.time_budget import FIRST, LEAST, OF_FIRST, OF_REST, TimeBudget

VARIANTS = ("plain", "doctor", "path", "both")
COLUMNS = {
    "network": ("name", ""),
    "with": ("variant", ""),
    "seconds": ("seconds", ".3f"),
    "ms a step": ("step_ms", ".3f"),
    "cost": ("cost", "+.1%"),
    "first round, seconds": ("first_s", ".3f"),
    "first round, cost": ("first_cost", "+.1%"),
}

LENGTHS = (1.0, 3.0, 10.0, 30.0, 60.0, 120.0)  # seconds of a run
BY_LENGTH = {
    "network": ("name", ""),
    "seconds": ("passed", ".1f"),
    "steps": ("steps", ","),
    "watched": ("watched", ""),
    "looks, s": ("looks_s", ".3f"),
    "path, s": ("path_s", ".3f"),
    "share, after 30 s of what follows": ("share", ".2%"),
    "bound": ("bound", ".2%"),
}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=5, help="counted rounds (5)")
    options.add_argument("--steps", type=int, default=200, help="of one run (200)")
    options.add_argument("--seconds", type=float, help="show the share of one run by its length")
    options.add_argument("--device", help="cuda where there is one, unless told")
    add_json_option(options)
    return options


def problem(name: str, steps: int) -> tuple[nn.Module, Data, TrainConfig]:
    """A network, noise of the size of its inputs, and how it learns."""
    shape, classes, batch = ((784,), 10, 128) if name == "mlp" else ((3, 224, 224), 1000, 64)
    draw = torch.Generator().manual_seed(0)
    rows = steps * batch if name == "mlp" else 8 * batch
    inputs = torch.randn(rows, *shape, generator=draw).numpy()
    labels = (torch.arange(rows) % min(classes, rows)).numpy()
    data = from_arrays(inputs, labels, config=ArraysConfig(val_size=0, test_size=0, kind="class"))
    kind = MODELS.load(name)
    with seeded(0):
        model = kind.build(kind.settings(), data.spec)
    precision = "fp32" if name == "mlp" else "bf16-mixed"
    epochs = steps * batch // rows
    return model, data, TrainConfig(epochs=epochs, batch_size=batch, precision=precision)


def callbacks_of(variant: str, config: TrainConfig, folder: str) -> list[Callback]:
    found: list[Callback] = [GuardNonFinite()]
    if variant in {"path", "both"}:
        found.append(KeepPath(Path(folder) / "path.safetensors", config.keep_path))
    if variant in {"doctor", "both"}:
        found.append(Doctor(precision=config.precision))
    return found


def seconds_of(variant: str, model: nn.Module, data: Data, config: TrainConfig) -> float:
    """One run from the same first weights."""
    with tempfile.TemporaryDirectory() as folder:
        callbacks = callbacks_of(variant, config, folder)
        trainer = Trainer(config, task_for(data), callbacks=callbacks)
        state = trainer.start(copy.deepcopy(model), data)
        data = data.to(state.device)
        _wait()
        started = time.perf_counter()
        trainer.fit(state, data)
        _wait()
        return time.perf_counter() - started


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def measure(name: str, *, rounds: int, steps: int, device: str) -> list[Row]:
    model, data, config = problem(name, steps)
    config = TrainConfig(**{**vars(config), "device": device})
    order = random.Random(0)
    taken: list[dict[str, float]] = []
    for _ in range(rounds + 1):
        turns = list(VARIANTS) if not taken else order.sample(VARIANTS, len(VARIANTS))
        taken.append({turn: seconds_of(turn, model, data, config) for turn in turns})
    first, counted = taken[0], taken[1:]
    return [
        {
            "name": name,
            "variant": variant,
            "seconds": statistics.median(one[variant] for one in counted),
            "step_ms": 1000 * statistics.median(one[variant] for one in counted) / steps,
            "cost": statistics.median(one[variant] / one["plain"] - 1 for one in counted),
            "first_s": first[variant],
            "first_cost": first[variant] / statistics.median(one["plain"] for one in counted) - 1,
        }
        for variant in VARIANTS
    ]


class CountedPath(KeepPath):
    """Counts what its snapshots take."""

    def on_fit_start(self, state: TrainState) -> None:
        self.budget = TimeBudget(state.device)
        super().on_fit_start(state)

    def _snapshot(self, state: TrainState) -> Tensor:
        with self.budget.spending("path"):
            return super()._snapshot(state)


class Shares(Callback):
    """Notes at some moments what watching has taken."""

    def __init__(self, doctor: Doctor, path: CountedPath, seconds: float) -> None:
        self.doctor, self.path = doctor, path
        self.moments = [*(length for length in LENGTHS if length < seconds), seconds]
        self.rows: list[Row] = []

    def on_batch_end(self, state: TrainState) -> None:
        passed = self.doctor.budget.elapsed
        if self.moments and passed >= self.moments[0]:
            self.moments.pop(0)
            looks, snapshots = self.doctor.budget.total, self.path.budget.total
            before = next((row for row in self.rows if row["passed"] >= FIRST), None)
            since = {"passed": 0.0, "looks_s": 0.0, "path_s": 0.0} if before is None else before
            taken = looks + snapshots - since["looks_s"] - since["path_s"]
            self.rows.append(
                {
                    "passed": passed,
                    "steps": state.step,
                    "watched": self.doctor.budget.granted["layers"],
                    "looks_s": looks,
                    "path_s": snapshots,
                    "share": taken / (passed - since["passed"]),
                    "bound": max(OF_FIRST, LEAST / passed) if before is None else OF_REST,
                }
            )


def shares(name: str, *, seconds: float, device: str) -> list[Row]:
    model, data, config = problem(name, steps=200)
    config = TrainConfig(**{**vars(config), "device": device, "epochs": 10**6})
    with tempfile.TemporaryDirectory() as folder:
        doctor = Doctor(precision=config.precision)
        path = CountedPath(Path(folder) / "path.safetensors", config.keep_path)
        noted = Shares(doctor, path, seconds)
        calls = [GuardNonFinite(), path, doctor, noted, TimeLimit(seconds + 1)]
        trainer = Trainer(config, task_for(data), callbacks=calls)
        trainer.fit(trainer.start(copy.deepcopy(model), data), data)
    return [{"name": name, **row} for row in noted.rows]


def main() -> None:
    arguments = parser().parse_args()
    device = arguments.device or ("cuda" if torch.cuda.is_available() else "cpu")
    names = ("mlp", "resnet50") if device == "cuda" else ("mlp",)
    if arguments.seconds is not None:
        rows = [
            row for name in names for row in shares(name, seconds=arguments.seconds, device=device)
        ]
        title = f"what watching takes of a run on {device}"
        show(rows, BY_LENGTH, title=title, as_json=arguments.json)
        return
    rows = [
        row
        for name in names
        for row in measure(name, rounds=arguments.rounds, steps=arguments.steps, device=device)
    ]
    title = f"{arguments.steps} steps on {device}, with and without watching"
    show(rows, COLUMNS, title=title, as_json=arguments.json)


if __name__ == "__main__":
    main()
