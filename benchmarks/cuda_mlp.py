"""A network so small that starting its kernels takes longer than running them, on CUDA.

Measured: the MLP 784-256-128-10 (ReLU), batches of 128, fused Adam at 1e-3, float32, data that lies
on the device. By hand is the loop that people write: a permutation, an indexing a batch, forward,
backward, step, nothing measured. netwright is `fit` as it is, in memory: progress, history, the
training metric, the doctor, the guard against numbers that are not finite. It is there twice: as it
comes, with its updates captured as a CUDA graph, and with `capture` off.

In each round all train once from the same weights, in an order drawn anew; the first round warms
up. The clock runs over wall seconds and waits for the device at both ends.

    ratio = median over rounds of (seconds by hand / seconds of the contestant)

The loss on the training data afterwards is the gate: who is fast must also have learned.
"""

import argparse
import math
import random
import statistics
import time
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from contest import YARDSTICK, Problem, unseen
from reporting import add_json_option, quartiles, show, spread
from torch import nn

from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data, Split
from netwright.data.spec import DataSpec
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.gradient_fit import gradient_fit
from netwright.recipes.fitting.prepared import RunContext

ROWS = 60_000
COLUMNS = {
    "contestant": ("name", ""),
    "us a step": ("us", ",.0f"),
    "ratio": ("ratio", ".2f"),
    "quartiles": ("spread", ""),
    "train loss": ("loss", ".4f"),
}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=5, help="counted rounds (5)")
    options.add_argument("--epochs", type=int, default=20, help="of a turn (20)")
    add_json_option(options)
    return options


def by_hand(problem: Problem, network: nn.Module, epochs: int) -> None:
    optimizer = problem.adam(network)
    for _ in range(epochs):
        order = torch.randperm(len(problem.inputs), device="cuda")
        for rows in order.split(problem.batch_size):
            loss = F.cross_entropy(network(problem.inputs[rows]), problem.labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def by_netwright(problem: Problem, network: nn.Module, epochs: int, *, capture: str) -> None:
    spec = DataSpec(inputs="features", input_shape=(784,), target="class", num_outputs=10)
    encoder = ArrayEncoder(input_shape=(784,), target="class", num_outputs=10)
    train = Split(inputs=problem.inputs, targets=problem.labels)
    prepared = prepare(
        network,
        Data(name="noise", spec=spec, train=train, preprocessor=encoder),
        epochs=epochs,
        batch_size=problem.batch_size,
        lr=problem.lr,
        capture=capture,
        device="cuda",
    )
    gradient_fit(prepared, RunContext())


def seconds_of(train: Callable[..., None], problem: Problem, epochs: int) -> tuple[float, float]:
    """The seconds of a turn, and the loss on all rows after it."""
    network = problem.network().cuda()
    torch.cuda.synchronize()
    started = time.perf_counter()
    with unseen():
        train(problem, network, epochs)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - started
    with torch.no_grad():
        return seconds, F.cross_entropy(network(problem.inputs), problem.labels).item()


def main() -> None:
    asked = parser().parse_args()
    torch.manual_seed(0)
    inputs = torch.randn(ROWS, 784)
    labels = inputs[:, :10].argmax(dim=1)
    problem = Problem(inputs=inputs.cuda(), labels=labels.cuda(), kernel="fused")
    order = random.Random(0)
    names, taken = list(CONTESTANTS), dict[str, list[tuple[float, float]]]()
    for _ in range(asked.rounds + 1):
        for name in order.sample(names, len(names)):
            turn = seconds_of(CONTESTANTS[name], problem, asked.epochs)
            taken.setdefault(name, []).append(turn)
    steps = asked.epochs * math.ceil(ROWS / problem.batch_size)
    rows = []
    for name, turns in taken.items():
        pairs = zip(taken[YARDSTICK][1:], turns[1:], strict=True)
        low, ratio, high = quartiles([hand / own for (hand, _), (own, _) in pairs])
        us = 1e6 * statistics.median(seconds for seconds, _ in turns[1:]) / steps
        row = {"name": name, "us": us, "ratio": ratio, "spread": spread(low, high)}
        rows.append({**row, "loss": turns[-1][1]})
    title = f"{steps:,} steps a turn, {torch.cuda.get_device_name()}, torch {torch.__version__}"
    show(rows, COLUMNS, title=title, as_json=asked.json)


CONTESTANTS: dict[str, Callable[..., None]] = {
    YARDSTICK: by_hand,
    "netwright": partial(by_netwright, capture="auto"),
    "netwright, capture off": partial(by_netwright, capture="off"),
}


if __name__ == "__main__":
    main()
