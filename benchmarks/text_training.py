"""How fast letters are learned from, beside a loop written by hand, and beside nanoGPT.

Measured: the networks of the ready recipes for Tiny Shakespeare, each on some of its windows. By
hand and by netwright, which is `fit` as it is, with progress, history, measures and guards, in
memory: the same first weights, the same batches in the same order, fused Adam, gradients cut at
length 1; on CUDA the larger networks, in the precision of their recipe.

In each round both train once, in an order drawn anew; the first round is not counted. The clock
counts CPU-seconds of the process, or on CUDA, which is waited for, wall seconds.

    ratio = median over rounds of (seconds by hand / seconds of netwright)

1.00 is as fast as by hand. The losses of some windows afterwards are the gate: on the CPU, where
the recipes have no dropout, both are the same to the last digit.

`--peer FOLDER`, a checkout of nanoGPT, trains that on the same letters as well, by its own script
and settings, and our recipe of the same shape; both are then scored alike (see `nanogpt.py`). That
takes a graphics card and some minutes; `--small` takes nanoGPT's setting for a CPU.
"""

import argparse
import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from contest import unseen
from nanogpt import compare_with_nanogpt
from reporting import Row, add_json_option, measure_box, show, spread
from scan import run
from torch import Tensor, nn

from netwright.core.seeding import generator
from netwright.data.dataset import Data
from netwright.data.loading.windows import WindowSplit
from netwright.data.text.published import TINY_SHAKESPEARE
from netwright.models.catalog import MODELS
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.gradient_fit import gradient_fit
from netwright.recipes.fitting.prepared import RunContext
from netwright.recipes.ready.catalog import READY

ON_CPU = ("shakespeare-lstm", "shakespeare-gpt", "shakespeare-mingru")
ON_CUDA = ("shakespeare-lstm-large", "shakespeare-gpt-large", "shakespeare-mingru")
LR = 1e-3
LONGEST = 1.0  # of a gradient
COLUMNS = {
    "recipe": ("name", ""),
    "windows": ("windows", ""),
    "ms a step by hand": ("ms_by_hand", ".2f"),
    "by netwright": ("ms_by_netwright", ".2f"),
    "ratio": ("ratio", ".3f"),
    "quartiles": ("spread", ""),
    "loss by hand": ("loss_by_hand", ".4f"),
    "of netwright": ("loss_of_netwright", ".4f"),
}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=5, help="counted rounds (5)")
    options.add_argument("--steps", type=int, help="a turn; 10 unless told, on CUDA 200")
    options.add_argument("--threads", type=int, default=1, help="threads on the CPU (1)")
    options.add_argument("--device", help="cuda where there is one, unless told")
    options.add_argument("--peer", type=Path, metavar="FOLDER", help="a checkout of nanoGPT")
    options.add_argument("--small", action="store_true", help="nanoGPT's setting for a CPU")
    add_json_option(options)
    return options


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is learned, and with which first weights.

    Args:
        network: a copy is what a contestant trains.
        data: windows of letters to learn from, on the device; nothing else.
        batch_size: windows a step.
        precision: of the matrix work.
    """

    network: nn.Module
    data: Data
    batch_size: int
    precision: str

    @property
    def device(self) -> torch.device:
        return self.data.train.targets.device

    def loss(self, network: nn.Module, rows: Tensor) -> Tensor:
        """The mean over all letters of these windows."""
        windows = self.data.train
        is_half = self.precision == "bf16-mixed"
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=is_half):
            logits = network(windows.inputs[rows])
            return F.cross_entropy(logits.flatten(0, 1), windows.targets[rows].flatten())


def pose(name: str, steps: int, device: str) -> Problem:
    """The recipe's network, and as many of its windows as make so many steps."""
    recipe = READY[f"ready/{name}"].read()
    window, batch_size = recipe["data"]["window"], recipe["train"]["batch_size"]
    data = TINY_SHAKESPEARE.load(TINY_SHAKESPEARE.config(window=window))
    stride = max(1, (len(data.train.stream) - 1 - window) // (steps * batch_size))
    stream = data.train.stream[: steps * batch_size * stride + window]
    train = WindowSplit(stream=stream, window=window, stride=stride).to(torch.device(device))
    kind = MODELS.load(recipe["model"].pop("name"))
    torch.manual_seed(0)
    return Problem(
        network=kind.build(kind.settings(**recipe["model"]), data.spec).to(device),
        data=replace(data, train=train, val=None),
        batch_size=batch_size,
        precision=recipe["train"].get("precision", "fp32"),
    )


def by_hand(problem: Problem, network: nn.Module) -> Callable[[], Any]:
    """The loop that people write."""
    order = torch.randperm(len(problem.data.train), generator=generator(0, "order", 0))
    first = copy.deepcopy(network.state_dict())

    def train() -> None:
        network.load_state_dict(first)
        network.train()
        optimizer = torch.optim.Adam(network.parameters(), lr=LR, fused=True)
        for rows in order.to(problem.device).split(problem.batch_size):
            problem.loss(network, rows).backward()
            nn.utils.clip_grad_norm_(network.parameters(), LONGEST)
            optimizer.step()
            optimizer.zero_grad()

    return train


def by_netwright(problem: Problem, network: nn.Module) -> Callable[[], Any]:
    """What `fit` does between loading the data and measuring the result, kept in memory."""
    prepared = prepare(
        network,
        problem.data,
        epochs=1,
        batch_size=problem.batch_size,
        optimizer="adam",
        kernel="fused",
        lr=LR,
        clip_norm=LONGEST,
        precision=problem.precision,
        device=str(problem.device),
    )
    first = copy.deepcopy(network.state_dict())

    def train() -> None:
        network.load_state_dict(first)
        with unseen():  # progress is drawn, for nobody
            gradient_fit(prepared, RunContext())

    return train


def with_joined_weights(network: nn.Module) -> nn.Module:
    """The network with the weights of a recurrent layer in one piece, as in one that is built."""
    for part in network.modules():
        if isinstance(part, nn.RNNBase):
            part.flatten_parameters()
    return network


@torch.no_grad()
def loss_after(problem: Problem, network: nn.Module) -> float:
    some = torch.arange(problem.batch_size, device=problem.device)
    return problem.loss(network.eval(), some).item()


def contest(name: str, *, steps: int, rounds: int, device: str) -> Row:
    """A row: both in turn, then what they learned."""
    problem = pose(name, steps, device)
    ours, theirs = (with_joined_weights(copy.deepcopy(problem.network)) for _ in range(2))
    sides = {"netwright": by_netwright(problem, ours), "by hand": by_hand(problem, theirs)}
    netwright, hand = run(sides, rounds=rounds, on_gpu=problem.device.type == "cuda")
    _, window = problem.data.train.inputs.shape
    return {
        "name": name,
        "windows": f"{problem.batch_size} x {window}",
        "ms_by_hand": hand["ms"] / steps,
        "ms_by_netwright": netwright["ms"] / steps,
        "ratio": hand["ratio"],
        "ratio_quartiles": hand["ratio_quartiles"],
        "spread": spread(*hand["ratio_quartiles"]),
        "loss_by_hand": loss_after(problem, theirs),
        "loss_of_netwright": loss_after(problem, ours),
        "rounds": rounds,
    }


def main() -> None:
    options = parser().parse_args()
    box = measure_box(options.threads)
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    on_gpu = device.startswith("cuda")
    place = torch.cuda.get_device_name(device) if on_gpu else f"{options.threads} thread(s)"
    steps = options.steps or (200 if on_gpu else 10)
    take_turns = partial(contest, steps=steps, rounds=options.rounds, device=device)
    rows = [
        {**take_turns(name), "device": place, "box": box}
        for name in (ON_CUDA if on_gpu else ON_CPU)
    ]
    title = f"letters, {steps} steps a turn, {place}"
    show(rows, COLUMNS, title=title, as_json=options.json)
    if options.peer is not None:
        compare_with_nanogpt(options.peer, small=options.small, as_json=options.json)


if __name__ == "__main__":
    main()
