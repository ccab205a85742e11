"""How near the estimates of `netwright plan` come: memory and seconds of a step, on the GPU here.

Measured: six trainings of GPTs on one GPU, texts of 1,024 random tokens, bfloat16, AdamW, without
dropout. Memory is the most that was allocated, and is compared with the estimate without what is
reserved. Seconds of a step are those of the later updates alone:

    seconds = (seconds of 2 k updates - seconds of k updates) / k

The GPU is calibrated first, as `netwright plan --calibrate` does. The gate: memory within 10 % and
seconds within 20 %.
"""

import argparse
import gc
import sys
import time
from dataclasses import replace
from typing import NamedTuple

import torch
from reporting import Row, add_json_option, show

from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data
from netwright.data.loading.windows import WindowSplit
from netwright.data.spec import DataSpec
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.gradient_fit import gradient_fit
from netwright.recipes.fitting.prepared import RunContext
from netwright.recipes.plan.machines import calibrate
from netwright.recipes.plan.training_plan import USUAL_VOCABULARY, Setting, foresee, size_of

TOKENS = 1024
MOST_OFF = {"memory": 0.1, "seconds": 0.2}
COLUMNS = {
    "model": ("model", ""),
    "texts": ("texts", ""),
    "checkpointing": ("checkpointing", ""),
    "GB, estimated": ("memory_estimated", ".1f"),
    "measured": ("memory_measured", ".1f"),
    "off": ("memory_off", "+.1%"),
    "s, estimated": ("seconds_estimated", ".4f"),
    "measured s": ("seconds_measured", ".4f"),
    "off by": ("seconds_off", "+.1%"),
}


class Case(NamedTuple):
    """One training: a model, texts of a batch, and whether blocks are computed again."""

    model: str
    texts: int
    recompute: bool


CASES = (
    Case("gpt2", 64, False),
    Case("gpt2", 16, False),
    Case("gpt2", 64, True),
    Case("gpt2-medium", 32, False),
    Case("gpt2-large", 16, True),
    Case("gpt2-xl", 8, True),
)


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--steps", type=int, default=10, help="k, updates that are timed (10)")
    options.add_argument("--compile", action="store_true", help="compile the network")
    add_json_option(options)
    return options


def measure(case: Case, steps: int, *, compiles: bool) -> tuple[int, float]:
    """Bytes at the most, and seconds of a step."""
    spec = DataSpec(
        inputs="tokens",
        input_shape=(TOKENS,),
        target="tokens",
        num_outputs=USUAL_VOCABULARY,
        vocab_size=USUAL_VOCABULARY,
    )
    draws = torch.Generator().manual_seed(0)
    count = case.texts * TOKENS * 4 + 1
    stream = torch.randint(4, USUAL_VOCABULARY, (count,), generator=draws)
    prepared = prepare(
        case.model,
        Data(
            name="random tokens",
            spec=spec,
            train=WindowSplit(stream=stream, window=TOKENS, stride=TOKENS),
            preprocessor=ArrayEncoder(
                input_shape=(TOKENS,), target="class", num_outputs=USUAL_VOCABULARY
            ),
        ),
        dropout=0.0,
        max_steps=steps,
        batch_size=case.texts,
        optimizer="adamw",
        precision="bf16-mixed",
        activation_checkpointing=case.recompute,
        compile=compiles,
        device="cuda",
    )
    torch.cuda.reset_peak_memory_stats()
    taken = []
    for updates in (steps, 2 * steps):
        limited = replace(prepared.recipe.train, max_steps=updates)
        recipe = replace(prepared.recipe, train=limited)
        torch.cuda.synchronize()
        began = time.perf_counter()
        outcome = gradient_fit(replace(prepared, recipe=recipe), RunContext(quiet=True))
        torch.cuda.synchronize()
        taken.append(time.perf_counter() - began - outcome.compile_seconds)
    return torch.cuda.max_memory_allocated(), (taken[1] - taken[0]) / steps


def main() -> None:
    options = parser().parse_args()
    if not torch.cuda.is_available():
        sys.exit("this needs a GPU")
    machine = calibrate()
    rows: list[Row] = []
    for case in CASES:
        setting = Setting(shard=False, recompute=case.recompute, rows=case.texts)
        size = size_of(case.model, TOKENS)
        told = foresee(size, machine, setting, gpus=1, batch=case.texts)
        memory, seconds = measure(case, options.steps, compiles=options.compile)
        estimated = told.most - machine.reserved
        rows.append(
            {
                "model": case.model,
                "texts": case.texts,
                "checkpointing": "yes" if case.recompute else "no",
                "memory_estimated": estimated / 1e9,
                "memory_measured": memory / 1e9,
                "memory_off": estimated / memory - 1,
                "seconds_estimated": told.seconds,
                "seconds_measured": seconds,
                "seconds_off": told.seconds / seconds - 1,
            }
        )
        gc.collect()
        torch.cuda.empty_cache()
    show(
        rows,
        COLUMNS,
        title="Estimates of netwright plan beside what was measured",
        as_json=options.json,
    )
    far = [
        f"{row['model']} x {row['texts']}: {kind} off by {row[f'{kind}_off']:+.0%}"
        for row in rows
        for kind, most in MOST_OFF.items()
        if abs(row[f"{kind}_off"]) > most
    ]
    sys.exit("\n".join(far) or 0)


if __name__ == "__main__":
    main()
