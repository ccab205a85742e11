"""What long texts cost by each kind of attention, and what it still remembers of them.

Cost: forward and backward of one layer of self-attention, float32, over lengths that double. The
exponent is the slope of log seconds, or of log bytes, over log length, fitted over the longer half
of the lengths, where what a call costs by itself no longer counts.

    plain    the softmax with all scores held, by the plain formula: h n^2 numbers
    full     MultiHeadAttention: torch's fused kernel
    window   WindowAttention, a window of 128 tokens and one global token
    linear   LinearAttention

`kept` is what autograd keeps for the backward pass; `peak` is the most memory that a GPU held. A
GPU's time is that of its kernels, which are replayed as one graph: a short text would else be timed
by how fast the host starts them.

Quality: `recall`, a symbol and then noise, and the symbol is asked for behind the last token. GPTs
that differ in their attention alone learn it, each as an ordinary run of netwright. A window
without a global token does not reach the symbol: it is to be at chance, 12.5 % of 8 symbols.

On a GPU the lengths are 1,024 to 16,384 and recall has 4,096 tokens; on a CPU 256 to 2,048 and 128.
"""

import argparse
import contextlib
import gc
import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from reporting import add_json_option, quartiles, show
from torch import Tensor

import netwright as nw
from netwright.layers.attention.self_attention import SelfAttention

COST_COLUMNS = {
    "attention": ("side", ""),
    "tokens": ("tokens", ",d"),
    "ms": ("ms", ".2f"),
    "kept MB": ("kept_mb", ".1f"),
    "peak MB": ("peak_mb", ".0f"),
    "time exponent": ("time_exponent", ".2f"),
    "kept exponent": ("kept_exponent", ".2f"),
}
QUALITY_COLUMNS = {
    "attention": ("side", ""),
    "tokens": ("tokens", ",d"),
    "accuracy %": ("accuracy", ".1f"),
    "steps": ("steps", "d"),
    "seconds": ("seconds", ".1f"),
}
QUALITY: dict[str, dict[str, Any]] = {
    "full": {"attention": "full"},
    "window": {"attention": "window"},
    "window + global": {"attention": "window", "global_tokens": 1},
    "linear": {"attention": "linear"},
}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--lengths", help="tokens, comma-separated; each is to be timed")
    options.add_argument("--width", type=int, default=512, help="features per token (512)")
    options.add_argument("--heads", type=int, default=8, help="attention heads (8)")
    options.add_argument("--rounds", type=int, default=3, help="counted rounds a length (3)")
    options.add_argument("--recall", type=int, help="tokens of recall; 0: no quality")
    options.add_argument("--steps", type=int, default=150, help="updates of each GPT (150)")
    options.add_argument("--seeds", type=int, default=1, help="GPTs of each kind (1)")
    options.add_argument("--threads", type=int, default=1, help="threads on the CPU (1)")
    options.add_argument("--device", help="cuda where there is one, unless told")
    add_json_option(options)
    return options


class PlainAttention(nw.layers.MultiHeadAttention):
    """The plain formula: all scores are held, and their softmax."""

    def forward(
        self, x: Tensor, mask: Tensor | None = None, score_bias: Tensor | None = None
    ) -> Tensor:
        values = self._split(x)[2]
        return self._joined(self.attention_weights(x) @ values)


def build_sides(width: int, heads: int) -> dict[str, SelfAttention[Any]]:
    return {
        "plain": PlainAttention(width, heads, causal=True),
        "full": nw.layers.MultiHeadAttention(width, heads, causal=True),
        "window": nw.layers.WindowAttention(width, heads, window=128, global_tokens=1, causal=True),
        "linear": nw.layers.LinearAttention(width, heads, causal=True),
    }


def kept_bytes(layer: SelfAttention[Any], x: Tensor) -> int:
    """What is kept for the backward pass, each storage once."""
    kept: list[torch.UntypedStorage] = []
    # Tensors themselves would hold the graph, and the graph them.
    hooks = torch.autograd.graph.saved_tensors_hooks(
        lambda part: kept.append(part.untyped_storage()), lambda _: None
    )
    with hooks:
        layer(x)
    return sum({own.data_ptr(): own.nbytes() for own in kept}.values())


def differentiate(layer: SelfAttention[Any], x: Tensor) -> None:
    """Forward and backward once."""
    torch.autograd.grad(layer(x).sum(), [x, *layer.parameters()])


def cpu_seconds(layer: SelfAttention[Any], x: Tensor, rounds: int) -> list[float]:
    """Of each round, after one that is not counted."""
    taken = []
    for _ in range(rounds + 1):
        start = time.process_time()
        differentiate(layer, x)
        taken.append(time.process_time() - start)
    return taken[1:]


def gpu_seconds(layer: SelfAttention[Any], x: Tensor, rounds: int) -> list[float]:
    """Of each replay of the captured kernels, after one that is not counted."""
    graph, taken = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        differentiate(layer, x)
    for _ in range(rounds + 1):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        taken.append(start.elapsed_time(end) / 1000)
    return taken[1:]


def peak_bytes(layer: SelfAttention[Any], x: Tensor) -> int:
    """The most that a GPU held in a call, which is also the first one: kernels are made in it."""
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    with side_stream():
        differentiate(layer, x)
    return torch.cuda.max_memory_allocated()


@contextlib.contextmanager
def side_stream() -> Iterator[None]:
    """A stream beside the current one, as capturing wants it for the calls before."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        yield
    torch.cuda.synchronize()


def exponent(lengths: Sequence[int], values: Sequence[float]) -> float:
    """The slope of log values over log lengths, by least squares over the longer half."""
    half = len(lengths) // 2
    x, y = (torch.tensor(part[half:], dtype=torch.float64).log() for part in (lengths, values))
    return float(((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum())


def measure_cost(options: argparse.Namespace, lengths: list[int], device: str) -> list[Any]:
    on_gpu, rows = device.startswith("cuda"), []
    for side, layer in build_sides(options.width, options.heads).items():
        layer.to(device)
        own = []
        for length in lengths:
            x = torch.randn(1, length, options.width, device=device, requires_grad=True)
            kept = kept_bytes(layer, x)
            peak = peak_bytes(layer, x) if on_gpu else None
            taken = (gpu_seconds if on_gpu else cpu_seconds)(layer, x, options.rounds)
            own.append(
                {
                    "side": side,
                    "tokens": length,
                    "ms": 1000 * quartiles(taken)[1],
                    "kept_mb": kept / 1e6,
                    "peak_mb": None if peak is None else peak / 1e6,
                }
            )
            print(own[-1], flush=True)
        own[-1]["time_exponent"] = exponent(lengths, [row["ms"] for row in own])
        own[-1]["kept_exponent"] = exponent(lengths, [row["kept_mb"] for row in own])
        rows += own
    return rows


def measure_quality(options: argparse.Namespace, tokens: int, device: str) -> list[Any]:
    rows = []
    for side, settings in QUALITY.items():
        for seed in range(options.seeds):
            start = time.perf_counter()
            run = nw.fit(
                "gpt",
                "recall",
                **{f"model.{name}": value for name, value in settings.items()},
                **{
                    "model.layers": 2,
                    "model.width": 64,
                    "model.heads": 4,
                    "model.attention_window": max(4, tokens // 32),
                    "data.length": tokens,
                    "data.n": 1200,
                    "train.batch_size": 16,
                    "train.lr": 3e-3,
                    "train.epochs": math.ceil(options.steps / 50),
                    "train.max_steps": options.steps,
                    "train.device": device,
                },
                seed=seed,
                save=False,
                quiet=True,
            )
            rows.append(
                {
                    "side": side,
                    "tokens": tokens,
                    "accuracy": 100 * run.evaluate()["accuracy"],
                    "steps": options.steps,
                    "seconds": time.perf_counter() - start,
                    "seed": seed,
                }
            )
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    options = parser().parse_args()
    torch.set_num_threads(options.threads)
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    on_gpu = device.startswith("cuda")
    place = torch.cuda.get_device_name(device) if on_gpu else f"CPU, {options.threads} thread(s)"
    default = "1024,2048,4096,8192,16384" if on_gpu else "256,512,1024,2048"
    lengths = [int(part) for part in (options.lengths or default).split(",")]
    tokens = options.recall if options.recall is not None else (4096 if on_gpu else 128)
    torch.manual_seed(0)
    title = f"forward and backward, width {options.width}, {options.heads} heads, float32, {place}"
    rows = [{**row, "device": place} for row in measure_cost(options, lengths, device)]
    show(rows, COST_COLUMNS, title=title, as_json=options.json)
    if tokens:
        rows = [{**row, "device": place} for row in measure_quality(options, tokens, device)]
        show(rows, QUALITY_COLUMNS, title=f"recall, {place}", as_json=options.json)


if __name__ == "__main__":
    main()
