"""How fast images are learned from, beside loops written by hand over the same bytes.

Measured: residual networks, images held as bytes on the device, shifted by up to 4 pixels and
mirrored, Nesterov's momentum, the channels of a pixel together in memory; on CUDA in bfloat16.

    resnet20   32 x 32, batches of 256          resnet18, resnet50   224 x 224, batches of 128, CUDA
    resnet9    32 x 32, batches of 512, CUDA

    by-hand       bytes are indexed, shifted and mirrored where they lie, the batch is then scaled;
                  netwright's network, of torch's layers alone
    torchvision   the same with torchvision's network
    v2            the same with torchvision.transforms.v2: one draw for all images of a batch
    dataloader    the usual way: an image at a time, by worker processes, then over to the device
    netwright     `fit` as it is, with progress, history, measures and guards; in memory, since
                  `checkpoint_cost.py` has what saving takes

All begin each turn with the same weights. In each round all take one turn of some steps, in an
order drawn anew; the first round, in which code is loaded and compiled, is not counted. The clock
runs over wall seconds, and the device is waited for at both ends.

    ratio = median over rounds of (seconds by hand / seconds of the contestant)

1.00 is as fast as by hand. The loss of some images after a turn is the gate: who is fast must
also have learned. Images are noise over a colour for each class. The compiled ones are measured by
the loop by hand that is compiled; torch.compile takes most of the time, `--no-compile` saves it.
"""

import argparse
import gc
import math
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from contest import YARDSTICK, unseen
from reporting import add_json_option, measure_box, quartiles, show, spread
from vision_loops import (
    Problem,
    Setting,
    Turn,
    by_hand,
    dataloader,
    netwright,
    pose,
    with_torchvision,
    with_v2,
)

COMPILED = f"{YARDSTICK}-compiled"
MOST_WORKERS = 16
COLUMNS = {
    "contestant": ("name", ""),
    "images/s": ("images_per_s", ",.0f"),
    "ratio": ("ratio", ".3f"),
    "quartiles": ("spread", ""),
    "loss after": ("loss", ".4f"),
    "remarks": ("remarks", ""),
}


ON_CUDA = {
    "resnet20": Setting(32, 256, 400),
    "resnet9": Setting(32, 512, 200, passes=5),  # as many steps as ten epochs of CIFAR-10
    # At a rate of 0.05 the loss after so few steps is anything between 0 and 1.5, by any of them.
    "resnet18": Setting(224, 128, 100, passes=3, lr=0.005),
    "resnet50": Setting(224, 128, 100, passes=3, lr=0.005),
}
ON_CPU = {"resnet20": Setting(32, 256, 2)}
SMALL = {"resnet20": Setting(8, 32, 32)}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=3, help="counted rounds (3)")
    options.add_argument("--models", default="resnet20,resnet50", help="a,b (resnet20,resnet50)")
    options.add_argument("--small", action="store_true", help="a few tiny images, on the CPU")
    options.add_argument("--no-compile", action="store_true", help="leave torch.compile out")
    options.add_argument("--only", help="contestants beside those by hand: a,b")
    options.add_argument("--workers", type=int, help="of the dataloader; one a core, at most 16")
    options.add_argument("--threads", type=int, help="of the CPU; all unless told")
    add_json_option(options)
    return options


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """A row of the table."""

    name: str
    get_ready: Callable[[Problem], Turn]
    note: str = ""
    compiles: bool = False


CONTESTANTS = [
    Contestant(name=YARDSTICK, get_ready=by_hand, note="bytes on the device"),
    Contestant(name="netwright", get_ready=netwright, note="fit, in memory"),
    Contestant(name="torchvision", get_ready=with_torchvision, note="by hand, its network"),
    Contestant(name="v2", get_ready=with_v2, note="by hand, its transforms: one draw a batch"),
    Contestant(name="dataloader", get_ready=dataloader, note="an image at a time, in workers"),
    Contestant(name=COMPILED, get_ready=partial(by_hand, compiles=True), compiles=True),
    Contestant(
        name="netwright-compiled", get_ready=partial(netwright, compiles=True), compiles=True
    ),
]


@dataclass
class Record:
    """What a contestant did, round by round."""

    turn: Turn | None = None
    seconds: list[float] = field(default_factory=list)
    loss: float = math.nan
    failure: str = ""


def timed(turn: Turn, wait: Callable[[], Any]) -> float:
    gc.collect()
    wait()
    start = time.perf_counter()
    aside = turn.train()
    wait()
    return time.perf_counter() - start - aside


def run_contest(
    problem: Problem, contestants: Sequence[Contestant], rounds: int
) -> dict[str, Record]:
    """All take a turn in each round, in an order that changes; the first round is not counted."""
    wait = torch.cuda.synchronize if problem.pixels.is_cuda else (lambda: None)
    order = random.Random(0)
    records = {contestant.name: Record() for contestant in contestants}
    for number in range(rounds + 1):
        for contestant in order.sample(contestants, len(contestants)):
            record = records[contestant.name]
            if record.failure:
                continue
            try:
                with unseen():
                    record.turn = record.turn or contestant.get_ready(problem)
                    torch.manual_seed(number)
                    seconds = timed(record.turn, wait)
            except Exception as error:  # a broken peer must not take the others with it
                record.failure = f"{type(error).__name__}: {error}".splitlines()[0]
                continue
            print(f"round {number}: {contestant.name} {seconds:.2f} s", file=sys.stderr)
            if number:
                record.seconds.append(seconds)
    for record in records.values():
        if record.turn is not None and not record.failure:
            record.loss = problem.loss_after(record.turn.network)
    return records


def summary(contestant: Contestant, records: dict[str, Record], images: int) -> dict[str, Any]:
    """A row: speed, and speed relative to the loop by hand of the same kind, round by round."""
    record = records[contestant.name]
    if record.failure:
        return {"name": contestant.name, "remarks": record.failure}
    row = {
        "name": contestant.name,
        "remarks": contestant.note,
        "images_per_s": images / quartiles(record.seconds)[1],
        "loss": record.loss,
        "rounds": len(record.seconds),
    }
    yardstick = records[COMPILED if contestant.compiles else YARDSTICK]
    if yardstick.failure:
        return row
    if not record.loss < yardstick.loss + 0.5:
        row["remarks"] += "; DID NOT LEARN as by hand"
    pairs = zip(yardstick.seconds, record.seconds, strict=True)
    low, ratio, high = quartiles([hand / own for hand, own in pairs])
    return {**row, "ratio": ratio, "ratio_quartiles": [low, high], "spread": spread(low, high)}


def main() -> None:
    options = parser().parse_args()
    device = "cuda" if torch.cuda.is_available() and not options.small else "cpu"
    known = SMALL if options.small else ON_CUDA if device == "cuda" else ON_CPU
    wanted = options.models.split(",")
    if unknown := set(wanted) - set(ON_CUDA):
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(ON_CUDA)}")
    threads = options.threads or torch.get_num_threads()
    box = measure_box(threads)
    cores = len(os.sched_getaffinity(0))
    workers = min(MOST_WORKERS, cores) if options.workers is None else options.workers
    contestants = [one for one in CONTESTANTS if not (one.compiles and options.no_compile)]
    if options.only:
        kept = {YARDSTICK, COMPILED, *options.only.split(",")}
        contestants = [one for one in contestants if one.name in kept]
    for model in wanted:
        if model not in known:
            print(f"{model} is left out: it takes a graphics card", file=sys.stderr)
            continue
        problem = pose(model, known[model], device, workers)
        records = run_contest(problem, contestants, options.rounds)
        place = {"model": model, "shape": list(problem.pixels.shape), "device": device, "box": box}
        images = problem.setting.passes * len(problem.pixels)
        rows = [{**summary(one, records, images), **place} for one in contestants]
        shape = f"{problem.side} x {problem.side}, batches of {problem.batch_size}"
        title = f"{model} on {device}: {len(problem.pixels)} images of {shape}, {workers} workers"
        show(rows, COLUMNS, title=title, as_json=options.json)


if __name__ == "__main__":
    main()
