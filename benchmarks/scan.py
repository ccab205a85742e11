"""How fast linear recurrences h_t = a_t h_{t-1} + b_t are trained, beside loops and torch's GRU.

Measured: forward and backward, float32, gradients of a and b. In each round all sides take their
turn, in an order drawn anew; the first round is thrown away. The clock counts CPU-seconds of the
process, or on a GPU, which is waited for, wall seconds.

    scan          netwright.layers.recurrence.scan
    loop          a Python loop over `unbind(1)`, differentiated by autograd
    own backward  the same loop forward and, written by hand, backward

    ratio = median over rounds of (seconds of the side / seconds of the scan)

The second table is of whole layers that read sequences: minGRU and the linear recurrent unit beside
torch.nn.GRU of as many units, all as ratios to minGRU.
"""

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import torch
from reporting import add_json_option, measure_box, quartiles, show, spread
from torch import Tensor, nn

from netwright.layers.recurrence.linear_recurrent_unit import LinearRecurrentUnit
from netwright.layers.recurrence.minimal_recurrence import MinimalGRU
from netwright.layers.recurrence.scan import scan, scan_by_steps

COLUMNS = {
    "side": ("side", ""),
    "ms": ("ms", ".1f"),
    "ratio": ("ratio", ".2f"),
    "quartiles": ("spread", ""),
}
Call = Callable[[], Any]


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--shape", default="8,4096,256", help="B,T,C (8,4096,256)")
    options.add_argument("--rounds", type=int, default=5, help="counted rounds (5)")
    options.add_argument("--threads", type=int, default=1, help="threads on the CPU (1)")
    options.add_argument("--device", help="cuda where there is one, unless told")
    add_json_option(options)
    return options


class LoopWithOwnBackward(torch.autograd.Function):
    """What one would write by hand: T steps there and T steps back."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        states, state = torch.empty_like(b), b.new_zeros(b.shape[0], b.shape[2])
        for a_t, b_t, out in zip(a.unbind(1), b.unbind(1), states.unbind(1), strict=True):
            state = torch.addcmul(b_t, a_t, state, out=out)
        ctx.save_for_backward(a, states)
        return states

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        a, states = ctx.saved_tensors
        total = torch.empty_like(a)
        behind = torch.zeros_like(a[:, 0])
        steps = zip(a.unbind(1), grads[0].unbind(1), total.unbind(1), strict=True)
        for a_t, grad_t, out in reversed(list(steps)):
            torch.add(grad_t, behind, out=out)
            behind = a_t * out
        grad_a = torch.zeros_like(a)
        torch.mul(total[:, 1:], states[:, :-1], out=grad_a[:, 1:])
        return grad_a, total


def recurrences(shape: tuple[int, int, int], device: str) -> dict[str, Call]:
    """Forward and backward of one recurrence, in three ways."""
    a = (0.4 + 0.5 * torch.rand(shape, device=device)).requires_grad_()
    b = torch.randn(shape, device=device, requires_grad=True)
    weights = torch.randn(shape, device=device)

    def both(function: Callable[[Tensor, Tensor], Tensor]) -> Call:
        return lambda: torch.autograd.grad(function(a, b), (a, b), weights)

    return {
        "scan": both(scan),
        "loop": both(scan_by_steps),
        "own backward": both(LoopWithOwnBackward.apply),
    }


def layers(shape: tuple[int, int, int], device: str) -> dict[str, Call]:
    """Forward and backward of whole layers, C inputs to C outputs."""
    size = shape[2]
    x = torch.randn(shape, device=device, requires_grad=True)
    weights = torch.randn(shape, device=device)

    def both(layer: nn.Module) -> Call:
        layer.to(device)
        return lambda: torch.autograd.grad(layer(x)[0], [x, *layer.parameters()], weights)

    return {
        "minGRU": both(MinimalGRU(size, size)),
        "LRU": both(LinearRecurrentUnit(size, size)),
        "nn.GRU": both(nn.GRU(size, size, batch_first=True)),
    }


def seconds(call: Call, on_gpu: bool) -> float:
    clock = time.perf_counter if on_gpu else time.process_time
    if on_gpu:
        torch.cuda.synchronize()
    start = clock()
    call()
    if on_gpu:
        torch.cuda.synchronize()
    return clock() - start


def run(sides: Mapping[str, Call], *, rounds: int, on_gpu: bool) -> list[dict[str, Any]]:
    """All sides in turn in each round; the first side is the unit."""
    order, taken = random.Random(0), defaultdict(list)
    for number in range(rounds + 1):
        for side in order.sample(list(sides), len(sides)):
            own = seconds(sides[side], on_gpu)
            if number > 0:
                taken[side].append(own)
    unit = taken[next(iter(sides))]
    rows = []
    for side in sides:
        low, middle, high = quartiles([a / b for a, b in zip(taken[side], unit, strict=True)])
        rows.append(
            {
                "side": side,
                "ms": 1000 * quartiles(taken[side])[1],
                "ratio": middle,
                "ratio_quartiles": [low, high],
                "spread": spread(low, high, ".2f"),
                "rounds": rounds,
            }
        )
    return rows


def main() -> None:
    options = parser().parse_args()
    batch, steps, channels = (int(part) for part in options.shape.split(","))
    box = measure_box(options.threads)
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    on_gpu = device.startswith("cuda")
    place = torch.cuda.get_device_name(device) if on_gpu else f"{options.threads} thread(s)"
    torch.manual_seed(0)
    for name, build in (("one recurrence", recurrences), ("whole layers", layers)):
        sides = build((batch, steps, channels), device)
        rows = [
            {**row, "what": name, "shape": options.shape, "device": place, "box": box}
            for row in run(sides, rounds=options.rounds, on_gpu=on_gpu)
        ]
        show(rows, COLUMNS, title=f"{name}, {options.shape}, {place}", as_json=options.json)


if __name__ == "__main__":
    main()
