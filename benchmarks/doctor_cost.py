"""What watching costs: the share of a short run that the doctor and the kept path take.

Measured: 200 steps of an MLP on the digits of MNIST, on CUDA also of ResNet-50 on images of
3 x 224 x 224 in bfloat16, each with the callbacks that every run has: plain, with the doctor, with
the path of the weights (which a network as large as ResNet-50 does not keep), with both. All are
trained from the same weights on the same batches.

In each round every variant trains once, in an order drawn anew; the first round warms up and is
shown by itself, since what runs for the first time is loaded then. The clock counts wall seconds;
a graphics card is waited for.

    cost = median over rounds of (seconds with it / seconds without - 1)
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
from torch import nn

from netwright.core.seeding import seeded
from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.dataset import Data
from netwright.models.catalog import MODELS
from netwright.train.callback import Callback
from netwright.train.callbacks.doctor import Doctor
from netwright.train.callbacks.keep_path import KeepPath
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.settings import TrainConfig
from netwright.train.tasks.catalog import task_for
from netwright.train.trainer import Trainer

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


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=5, help="counted rounds (5)")
    options.add_argument("--steps", type=int, default=200, help="of one run (200)")
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


def main() -> None:
    arguments = parser().parse_args()
    device = arguments.device or ("cuda" if torch.cuda.is_available() else "cpu")
    names = ("mlp", "resnet50") if device == "cuda" else ("mlp",)
    rows = [
        row
        for name in names
        for row in measure(name, rounds=arguments.rounds, steps=arguments.steps, device=device)
    ]
    title = f"{arguments.steps} steps on {device}, with and without watching"
    show(rows, COLUMNS, title=title, as_json=arguments.json)


if __name__ == "__main__":
    main()
