"""What a step of each optimizer costs in time and memory: 25.6 million weights, no model.

Measured: the 161 tensors of ResNet-50 with normal gradients, float32. In each round every
optimizer takes its turn, in an order drawn anew: it is built, takes one step off the clock (which
also makes its state), and then a few under the clock. The first round is thrown away. The clock
counts CPU-seconds of the process, or on a GPU, which is waited for, wall seconds.

    ratio = median over rounds of (seconds of the optimizer / seconds of AdamW, kernel foreach)

1.00 takes as long as AdamW, 0.50 half as long. `state` is what an optimizer remembers between
steps, in bytes a weight: 4 is one number. All step by the kernel foreach, AdamW also by the fused
one; optimizers that ask for the loss again are left out. Muon multiplies matrices, the others only
pass over memory: its ratio depends on the machine's speed at either.
"""

import argparse
import gc
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from reporting import add_json_option, measure_box, quartiles, show, spread
from torch import Tensor, nn

from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import Kernel, build_optimizer

UNIT = "adamw"
COLUMNS = {
    "optimizer": ("name", ""),
    "kernel": ("kernel", ""),
    "ms a step": ("ms_per_step", ".1f"),
    "ratio": ("ratio", ".2f"),
    "quartiles": ("spread", ""),
    "state, bytes a weight": ("state_bytes_per_weight", ".2f"),
}


class Contestant(NamedTuple):
    """An optimizer and how it steps."""

    name: str
    kernel: Kernel


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=5, help="counted rounds (5)")
    options.add_argument("--steps", type=int, default=2, help="steps on the clock a turn (2)")
    options.add_argument("--threads", type=int, default=1, help="threads on the CPU (1)")
    options.add_argument("--only", help="optimizers to run beside adamw: a,b")
    options.add_argument("--device", help="cuda where there is one, unless told")
    add_json_option(options)
    return options


def resnet_50_shapes() -> list[tuple[int, ...]]:
    """Kernels, gains, biases and the last layer: 161 tensors, 25,557,032 weights."""
    kernels: list[tuple[int, ...]] = [(64, 3, 7, 7)]
    channels = 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            kernels += [(width, channels, 1, 1), (width, width, 3, 3), (4 * width, width, 1, 1)]
            if block == 0:
                kernels.append((4 * width, channels, 1, 1))  # the skip changes the channels
            channels = 4 * width
    with_norms = [shape for kernel in kernels for shape in (kernel, kernel[:1], kernel[:1])]
    return [*with_norms, (1000, channels), (1000,)]


def draw_weights(device: str) -> nn.ParameterList:
    """Weights of these shapes, each with a gradient."""
    torch.manual_seed(0)
    weights = nn.ParameterList(torch.randn(shape, device=device) for shape in resnet_50_shapes())
    for weight in weights:
        weight.grad = torch.randn_like(weight)
    return weights


def contestants(only: str | None) -> list[Contestant]:
    named = [name for name in OPTIMIZERS if not OPTIMIZERS.load(name).closure]
    wanted = [UNIT, *only.split(",")] if only else named
    if unknown := set(wanted) - set(named):
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(named)}")
    listed = [Contestant(name, "foreach") for name in named if name in wanted]
    return [*listed, Contestant(UNIT, "fused")]


def take_turn(
    contestant: Contestant, weights: nn.ParameterList, *, steps: int
) -> tuple[float, float, int]:
    """Seconds a step by the clock that counts, wall seconds a step, bytes of state."""
    entry = OPTIMIZERS.load(contestant.name)
    optimizer = build_optimizer(entry, weights, kernel=contestant.kernel)
    optimizer.step()
    on_gpu = weights[0].is_cuda
    gc.collect()
    if on_gpu:
        torch.cuda.synchronize()
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(steps):
        optimizer.step()
    if on_gpu:
        torch.cuda.synchronize()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    kept = sum(
        value.nbytes
        for state in optimizer.state.values()
        for value in state.values()
        if isinstance(value, Tensor)
    )
    return (wall if on_gpu else cpu) / steps, wall / steps, kept


def run(
    listed: Sequence[Contestant], weights: nn.ParameterList, *, rounds: int, steps: int
) -> list[dict[str, Any]]:
    """All in turn in each round; the rows of the table."""
    order = random.Random(0)
    counted: dict[Contestant, list[float]] = defaultdict(list)
    walls: dict[Contestant, list[float]] = defaultdict(list)
    kept: dict[Contestant, int] = {}
    for number in range(rounds + 1):
        for contestant in order.sample(listed, len(listed)):
            seconds, wall, kept[contestant] = take_turn(contestant, weights, steps=steps)
            if number > 0:
                counted[contestant].append(seconds)
                walls[contestant].append(wall)
    unit = counted[Contestant(UNIT, "foreach")]
    size = sum(weight.numel() for weight in weights)
    rows = []
    for contestant in listed:
        own = counted[contestant]
        low, middle, high = quartiles([a / b for a, b in zip(own, unit, strict=True)])
        rows.append(
            {
                **contestant._asdict(),
                "ms_per_step": 1000 * quartiles(walls[contestant])[1],
                "ratio": middle,
                "ratio_quartiles": [low, high],
                "spread": spread(low, high, ".2f"),
                "state_bytes_per_weight": kept[contestant] / size,
                "rounds": rounds,
            }
        )
    return rows


def main() -> None:
    options = parser().parse_args()
    listed = contestants(options.only)
    box = measure_box(options.threads)
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    is_gpu = device.startswith("cuda")
    place = torch.cuda.get_device_name(device) if is_gpu else f"{options.threads} thread(s)"
    weights = draw_weights(device)
    rows = [
        {**row, "device": place, "box": box}
        for row in run(listed, weights, rounds=options.rounds, steps=options.steps)
    ]
    size = sum(weight.numel() for weight in weights)
    title = f"{len(weights)} tensors, {size:,} weights, {place}"
    show(rows, COLUMNS, title=title, as_json=options.json)


if __name__ == "__main__":
    main()
