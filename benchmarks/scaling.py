"""How training scales: 1 to 4 processes measured here, and up to 10,000 GPUs on paper.

Measured: a step of a small GPT (forward, backward, gradients of all processes, AdamW) by 1 to 4
processes of one thread that talk by gloo on this machine, by all engines in turn; the median of
the steps of the best round. Weak scaling: so many texts a process; strong: so many texts in
all. The engines are those of `train.parallel`, and DistributedDataParallel beside them.

    efficiency, weak = seconds of one process / seconds of N
    efficiency, strong = seconds of one process / (N x seconds of N)

More processes than cores share them: there the efficiency is at most cores / N. Whether an engine
gives the same bits when it starts anew in the middle is tried with three processes: DDP puts its
gradients into other groups after the first update, and rounds otherwise when it begins again.

Computed: GPT-2 XL by the model of `netwright plan`, which knows rates and bandwidths, but neither
latency nor slow or lost machines. It is an upper bound.
"""

import argparse
import os
import statistics
import tempfile
import time
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import torch
from reporting import Row, add_json_option, show
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.recipes.fitting.launch import rank_environment
from netwright.recipes.plan.gpt_size import size_of
from netwright.recipes.plan.machines import find_machine
from netwright.recipes.plan.training_plan import best_of, outlooks
from netwright.train.engines.engine import Engine
from netwright.train.engines.sharded import ShardedEngine
from netwright.train.ranks import Ranks, joined

WORLDS = (1, 2, 3, 4)
KINDS = ("weak", "strong")
ENGINES = ("replicate", "shard", "ddp")
TOKENS, VOCABULARY = 64, 256
SIZES = {"layers": 4, "heads": 4, "width": 128, "dropout": 0.0}
EACH, ALL = 6, 12  # texts of a process (weak), and of all (strong)
WARMUP, STEPS, ROUNDS = 3, 12, 3
GPUS = (1, 10, 100, 1_000, 10_000)
PLANNED, KIND, EACH_GPU, ALL_GPUS = "gpt2-xl", "h200", 16, 10_000


class Training:
    """One process's part of the training, by an engine."""

    def __init__(self, engine: str, ranks: Ranks) -> None:
        self.name, self.ranks = engine, ranks
        kind = MODELS.load("gpt")
        spec = DataSpec(
            inputs="tokens",
            input_shape=(TOKENS,),
            target="tokens",
            num_outputs=VOCABULARY,
            vocab_size=VOCABULARY,
        )
        with seeded(0):
            built = kind.build(kind.settings(**SIZES), spec)
        self.engine = ShardedEngine(ranks) if engine == "shard" else Engine(ranks)
        self.model = self.engine.place(built, torch.device("cpu"))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, foreach=True)
        self.start_anew()

    def start_anew(self) -> None:
        """What a process that goes on does: weights and moments stay, groups are made again."""
        self.runs: nn.Module = self.model
        if self.name == "ddp" and not self.ranks.is_alone:
            self.runs = DistributedDataParallel(self.model)

    def step(self, texts: Tensor) -> None:
        """One update on this process's texts (B, T + 1)."""
        self.engine.begin_batch(self.model, last=True)
        logits = self.runs(texts[:, :-1])
        logits = getattr(logits, "logits", logits)
        loss = functional.cross_entropy(logits.flatten(0, 1), texts[:, 1:].flatten())
        (loss / (1 if self.name == "ddp" else self.ranks.world)).backward()  # type: ignore[no-untyped-call]
        if self.name != "ddp":
            self.engine.sum_gradients(self.model)
        self.optimizer.step()
        self.optimizer.zero_grad()


def be_process(rank: int, world: int, folder: str, rounds: int) -> None:
    """Train as one of several by every engine; leaves seconds of a step, and whether bits are."""
    torch.set_num_threads(1)
    os.environ.update(rank_environment(rank, world, Path(folder)))
    found: dict[str, Any] = {}
    with joined(300.0, shards=True) as ranks:
        for _, kind, engine in product(range(rounds), KINDS, ENGINES):
            rows = EACH if kind == "weak" else ALL // world
            texts = torch.randint(VOCABULARY, (rows, TOKENS + 1), generator=_draws(rank))
            seconds = _seconds_of_step(Training(engine, ranks), texts)
            case = f"{kind} {engine}"
            found[case] = min(seconds, found.get(case, seconds))
        for engine in ENGINES if world == 3 else ():
            if engine != "shard":
                texts = torch.randint(VOCABULARY, (2, TOKENS + 1), generator=_draws(rank))
                found[engine] = _same_bits(engine, ranks, texts)
    if rank == 0:
        torch.save(found, f"{folder}/found")


def _seconds_of_step(training: Training, texts: Tensor) -> float:
    times = [time.perf_counter()]
    for _ in range(WARMUP + STEPS):
        training.step(texts)
        times.append(time.perf_counter())
    return statistics.median([after - before for before, after in pairwise(times)][WARMUP:])


def _same_bits(engine: str, ranks: Ranks, texts: Tensor) -> bool:
    """Whether six steps give the bits of three steps, a new start, and three more."""
    ends = []
    for stop in (None, 3):
        training = Training(engine, ranks)
        for number in range(6):
            if number == stop:
                training.start_anew()
            training.step(texts)
        ends.append(
            torch.cat([weight.detach().flatten() for weight in training.model.parameters()])
        )
    return torch.equal(*ends)


def _draws(rank: int) -> torch.Generator:
    return torch.Generator().manual_seed(rank)


def run_processes(world: int, rounds: int) -> dict[str, Any]:
    """What so many processes found."""
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(  # type: ignore[no-untyped-call]
            be_process, args=(world, folder, rounds), nprocs=world
        )
        return dict(torch.load(f"{folder}/found"))


def measure(rounds: int = ROUNDS) -> list[Row]:
    """Both kinds of scaling of each engine."""
    found = {world: run_processes(world, rounds) for world in WORLDS}
    rows: list[Row] = []
    for kind, engine, world in product(KINDS, ENGINES, WORLDS):
        seconds = found[world][f"{kind} {engine}"]
        ratio = found[1][f"{kind} {engine}"] / seconds
        rows.append(
            {
                "name": "scaling",
                "kind": kind,
                "engine": engine,
                "processes": world,
                "texts": EACH if kind == "weak" else ALL // world,
                "seconds": seconds,
                "milliseconds": 1e3 * seconds,
                "efficiency": ratio if kind == "weak" else ratio / world,
                "same_bits": found[world].get(engine),
            }
        )
    return rows


def compute() -> list[Row]:
    """The same two of GPT-2 XL on paper, by the best setting that fits."""
    size, machine = size_of(PLANNED, 1024), find_machine(KIND)
    rows: list[Row] = []
    for kind in KINDS:
        rates = {}
        for gpus in GPUS:
            batch = EACH_GPU * gpus if kind == "weak" else ALL_GPUS
            best = best_of(list(outlooks(size, machine, gpus=gpus, batch=batch)))
            if best is None:
                continue
            rates[gpus] = best.tokens_per_second / gpus
            rows.append(
                {
                    "name": "scaling on paper",
                    "kind": kind,
                    "engine": best.setting.parallel,
                    "gpus": gpus,
                    "texts": batch // gpus,
                    "seconds": best.seconds,
                    "tokens": best.tokens_per_second,
                    "efficiency": rates[gpus] / rates[1],
                }
            )
    return rows


def draw(measured: list[Row], computed: list[Row], path: Path) -> None:
    """The chart: points are measured, dashed lines are computed."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "netwright", "font.size": 9})
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4.1), sharey=True)
    colours = {"replicate": "#1f77b4", "shard": "#d62728", "ddp": "#7f7f7f"}
    for engine in ENGINES:
        for kind, marker in (("weak", "o"), ("strong", "s")):
            rows = [row for row in measured if (row["engine"], row["kind"]) == (engine, kind)]
            left.plot(
                [row["processes"] for row in rows],
                [row["efficiency"] for row in rows],
                marker=marker,
                color=colours[engine],
                linestyle="-" if kind == "weak" else ":",
                label=f"{engine}, {kind}",
            )
    cores = len(os.sched_getaffinity(0))
    left.plot(WORLDS, [min(1.0, cores / world) for world in WORLDS], color="black", linewidth=0.8)
    left.annotate(f"the most that {cores} cores allow", (2.5, 0.93), fontsize=8)
    left.set(
        title=f"measured: small GPT, gloo, {cores} CPU cores",
        xlabel="processes",
        ylabel="efficiency",
        xticks=WORLDS,
        ylim=(0, 1.2),
    )
    below = {"fontsize": 8, "frameon": False, "loc": "upper center", "bbox_to_anchor": (0.5, -0.16)}
    left.legend(ncols=3, **below)
    for kind, colour in (("weak", "#2ca02c"), ("strong", "#9467bd")):
        rows = [row for row in computed if row["kind"] == kind]
        right.plot(
            [row["gpus"] for row in rows],
            [row["efficiency"] for row in rows],
            "--",
            color=colour,
            label=f"{kind}: {EACH_GPU} texts a GPU"
            if kind == "weak"
            else f"{kind}: {ALL_GPUS:,} texts in all",
        )
    right.set(
        title="computed, not measured: GPT-2 XL on H200s,\nwithout latency and slow machines",
        xlabel="GPUs",
        xscale="log",
    )
    right.legend(**below)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


MEASURED = {
    "scaling": ("kind", ""),
    "engine": ("engine", ""),
    "processes": ("processes", "d"),
    "texts each": ("texts", "d"),
    "ms a step": ("milliseconds", ".1f"),
    "efficiency": ("efficiency", ".2f"),
    "same bits after a new start": ("same_bits", ""),
}
COMPUTED = {
    "scaling": ("kind", ""),
    "engine": ("engine", ""),
    "GPUs": ("gpus", "d"),
    "texts each": ("texts", "d"),
    "s a step": ("seconds", ".2f"),
    "tokens/s": ("tokens", ",.0f"),
    "efficiency": ("efficiency", ".2f"),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_json_option(parser)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of all measured cases")
    parser.add_argument("--picture", type=Path, help="write the chart to this .svg")
    given = parser.parse_args()
    measured = measure(given.rounds)
    show(measured, MEASURED, title="measured on this machine", as_json=given.json)
    computed = compute()
    title = f"computed by the model of netwright plan: {PLANNED}, {KIND}"
    show(computed, COMPUTED, title=title, as_json=given.json)
    if given.picture is not None:
        draw(measured, computed, given.picture)


if __name__ == "__main__":
    main()
