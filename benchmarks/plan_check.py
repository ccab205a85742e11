"""How near the estimates of `netwright plan` come: memory and seconds of a step, on the GPU here.

Measured: trainings of GPTs on one GPU, texts of 1,024 random tokens, bfloat16, AdamW, without
dropout, CUDA graphs and the doctor, who looks often at the first updates alone. Estimates of whole
weights count on a graph; at these sizes the host is ahead of the GPU without one. Memory is the
most that was allocated, and is compared with the estimate without what is reserved. Seconds of a
step are those of the later updates of one pass, and the clock waits for the GPU at both ends. One
network is trained as a replica and sharded (FSDP2), and one whose shards wait on the host:

    cost of FSDP2 = seconds of a step, sharded / seconds of a step - 1

The GPU is calibrated first, as `netwright plan --calibrate` does. The gate: memory within 10 % and
seconds within 20 %, and FSDP2 costs at most 5 %.

Each training has a process of its own, which starts with an empty GPU, and each row is printed when
it is measured: one that fails or hangs is told, and the others go on. What is wanted most comes
first.

`--busy` also adds up the seconds of the kernels and copies of two more updates, by torch's
profiler: far less than a step takes means that the GPU waited for the host.

`--small` is a try of a minute on a CPU, without memory and gate.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from typing import NamedTuple

import torch
from reporting import Row, add_json_option, show
from torch.profiler import ProfilerActivity, profile

from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data
from netwright.data.loading.windows import WindowSplit
from netwright.data.spec import DataSpec
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.gradient_fit import gradient_fit
from netwright.recipes.fitting.prepared import RunContext
from netwright.recipes.plan.gpt_size import USUAL_VOCABULARY, size_of
from netwright.recipes.plan.machines import ASSUMED, HERE, Machine, calibrate, find_machine
from netwright.recipes.plan.training_plan import Setting, foresee
from netwright.train.callback import Callback
from netwright.train.ranks import joined
from netwright.train.state import TrainState

MOST_OFF = {"memory": 0.1, "seconds": 0.2}
MOST_COST = 0.05  # of FSDP2 on one GPU
FIRST = 5  # updates before the clock starts
LONGEST = 240.0  # seconds of a training with its start; the largest takes about 50 on the GPU
PROFILED = 2  # updates that are looked into
COLUMNS = {
    "model": ("model", ""),
    "texts": ("texts", ""),
    "parallel": ("parallel", ""),
    "checkpointing": ("checkpointing", ""),
    "offload": ("offload", ""),
    "GB, estimated": ("memory_estimated", ".1f"),
    "measured": ("memory_measured", ".1f"),
    "off": ("memory_off", "+.1%"),
    "s, estimated": ("seconds_estimated", ".4f"),
    "measured s": ("seconds_measured", ".4f"),
    "off by": ("seconds_off", "+.1%"),
    "busy s": ("seconds_busy", ".4f"),
}


class Case(NamedTuple):
    """One training: a model, texts of a batch, whether blocks are computed again, and sharded.

    Shards may wait on the host.
    """

    model: str
    texts: int
    recompute: bool
    shard: bool = False
    offload: bool = False
    tokens: int = 1024  # of a text


CASES = (
    Case("gpt2-medium", 32, False),
    Case("gpt2", 64, False),
    Case("gpt2-medium", 32, False, shard=True),
    Case("gpt2-xl", 8, True, shard=True),
    Case("gpt2-large", 16, True),
    Case("gpt2", 64, True),
    Case("gpt2", 16, False),
    Case("gpt2-xl", 8, True, shard=True, offload=True),
)
SMALL = (
    Case("gpt", 2, True, shard=True, tokens=8),
    Case("gpt", 2, True, tokens=8),
    Case("gpt", 3, False, shard=True, tokens=8),
)


class Clock(Callback):
    """Seconds of the updates after the first ones, and the most bytes up to the last of them.

    Those behind them may be looked into: for how many seconds of each the GPU was at work.
    """

    def __init__(self, last: int, *, looks: bool = False) -> None:
        self.last, self.began, self.seconds, self.most = last, 0.0, 0.0, 0
        # Of the host nothing is kept: its records of an operation count the kernels once more.
        kind = ProfilerActivity.CUDA if torch.cuda.is_available() else ProfilerActivity.CPU
        self.busy, self.profile = 0.0, profile(activities=[kind]) if looks else None

    def on_step_end(self, state: TrainState) -> None:
        self._look(state.step)
        if state.step not in {FIRST, self.last}:
            return
        if state.device.type == "cuda":
            torch.cuda.synchronize()
            self.most = torch.cuda.max_memory_allocated()
        now = time.perf_counter()
        if state.step == FIRST:
            self.began = now
        else:
            self.seconds = now - self.began
            if self.profile is not None:
                self.profile.start()

    def _look(self, step: int) -> None:
        if self.profile is not None and step == self.last + PROFILED:
            self.profile.stop()
            spent = sum(one.self_device_time_total for one in self.profile.key_averages())
            self.busy = spent / 1e6 / PROFILED


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--steps", type=int, default=10, help="k, updates that are timed (10)")
    options.add_argument("--small", action="store_true", help="a try on a CPU")
    options.add_argument("--row", type=int, help="the training of this place alone, from 0")
    options.add_argument("--rows", help="the trainings of these places, as 0,2,7 (all)")
    options.add_argument("--busy", action="store_true", help="look into two more updates")
    options.add_argument("--kind", default=HERE, help="of GPU, whose estimates these are (here)")
    add_json_option(options)
    return options


def measure(case: Case, steps: int, device: str, *, looks: bool) -> tuple[int, float, float]:
    """Bytes at the most, seconds of a step, and those for which the GPU was at work."""
    spec = DataSpec(
        inputs="tokens",
        input_shape=(case.tokens,),
        target="tokens",
        num_outputs=USUAL_VOCABULARY,
        vocab_size=USUAL_VOCABULARY,
    )
    draws = torch.Generator().manual_seed(0)
    clock = Clock(FIRST + steps, looks=looks)
    updates = clock.last + (PROFILED if looks else 0)
    count = case.texts * case.tokens * updates + 1  # one pass: between two, much else is done
    stream = torch.randint(4, USUAL_VOCABULARY, (count,), generator=draws)
    prepared = prepare(
        case.model,
        Data(
            name="random tokens",
            spec=spec,
            train=WindowSplit(stream=stream, window=case.tokens, stride=case.tokens),
            preprocessor=ArrayEncoder(
                input_shape=(case.tokens,), target="class", num_outputs=USUAL_VOCABULARY
            ),
        ),
        dropout=0.0,
        max_steps=updates,
        batch_size=case.texts,
        optimizer="adamw",
        precision="bf16-mixed" if device == "cuda" else "fp32",
        activation_checkpointing=case.recompute,
        parallel="shard" if case.shard else "replicate",
        offload=case.offload,
        capture="off",
        doctor=False,
        device=device,
    )
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    with joined(prepared.recipe.train.rank_timeout, shards=case.shard) as ranks:
        gradient_fit(prepared, RunContext(ranks=ranks, extra=[clock], quiet=True))
    return clock.most, clock.seconds / steps, clock.busy


def measured_row(
    case: Case, machine: Machine, steps: int, device: str, *, looks: bool = False
) -> Row:
    """What was told of a training, and what it took."""
    setting = Setting(
        shard=case.shard, recompute=case.recompute, rows=case.texts, offload=case.offload
    )
    told = foresee(size_of(case.model, case.tokens), machine, setting, gpus=1, batch=case.texts)
    memory, seconds, busy = measure(case, steps, device, looks=looks)
    estimated = told.most - machine.reserved
    return {
        "model": case.model,
        "texts": case.texts,
        "parallel": setting.parallel,
        "checkpointing": "yes" if case.recompute else "no",
        "offload": "yes" if case.offload else "no",
        "memory_estimated": estimated / 1e9,
        "memory_measured": memory / 1e9,
        "memory_off": estimated / memory - 1 if memory else 0.0,
        "seconds_estimated": told.seconds,
        "seconds_measured": seconds,
        "seconds_off": told.seconds / seconds - 1,
        "seconds_busy": busy,
    }


def cost_of_sharding(rows: Sequence[Row]) -> float:
    """How much longer a step takes sharded, of the training that was done both ways, or NaN."""
    taken = {
        (row["model"], row["texts"], row["checkpointing"], row["parallel"]): row["seconds_measured"]
        for row in rows
        if row["offload"] == "no"
    }
    for (*both, parallel), seconds in taken.items():
        whole = taken.get((*both, "replicate"))
        if parallel == "shard" and whole:
            cost: float = seconds / whole - 1
            return cost
    return math.nan


def in_process(place: int, kind: str, options: argparse.Namespace) -> Row:
    """The row of a training, by a process of its own."""
    words = [sys.executable, __file__, "--row", str(place), "--kind", kind]
    words += ["--steps", str(options.steps), *(["--small"] if options.small else [])]
    words += ["--busy"] if options.busy else []
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, timeout=LONGEST)
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def kind_here() -> str:
    """The GPU at hand, as it is measured; or the one in the table, where that fails."""
    try:
        print(f"{calibrate()}", file=sys.stderr, flush=True)
    except Exception:
        traceback.print_exc()
        return ASSUMED
    return HERE


def main() -> None:
    options = parser().parse_args()
    cases, device = (SMALL, "cpu") if options.small else (CASES, "cuda")
    if not (options.small or torch.cuda.is_available()):
        sys.exit("this needs a GPU; --small is a try without one")
    if options.row is not None:
        torch.set_num_threads(len(os.sched_getaffinity(0)))  # shards are built on the host
        machine = find_machine(options.kind)
        case, steps = cases[options.row], options.steps
        print(json.dumps(measured_row(case, machine, steps, device, looks=options.busy)))
        return
    kind = ASSUMED if options.small else kind_here()
    rows, failed = list[Row](), list[str]()
    asked = range(len(cases)) if options.rows is None else map(int, options.rows.split(","))
    for place in asked:
        case = cases[place]
        began = time.perf_counter()
        try:
            rows.append(in_process(place, kind, options))
            said = f"{rows[-1]}"
        except Exception as error:  # minutes of a GPU: what else can be measured is
            failed.append(f"{case} failed")
            said = f"{error}"
        taken = time.perf_counter() - began
        print(f"{case} took {taken:.0f} s: {said}", file=sys.stderr, flush=True)
    show(
        rows,
        COLUMNS,
        title="Estimates of netwright plan beside what was measured",
        as_json=options.json,
    )
    cost = cost_of_sharding(rows)
    print(f"FSDP2 on one GPU costs {cost:+.1%}", file=sys.stderr)
    far = [
        f"{row['model']} x {row['texts']} ({row['parallel']}): {kind} off by "
        f"{row[f'{kind}_off']:+.0%}"
        for row in rows
        for kind, most in MOST_OFF.items()
        if abs(row[f"{kind}_off"]) > most
    ]
    is_left_out = options.rows is not None and math.isnan(cost)
    far += [] if cost <= MOST_COST or is_left_out else [f"FSDP2 costs {cost:.1%}"]
    wrong = failed if options.small else failed + far
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
