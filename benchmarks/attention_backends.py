"""Which of torch's kernels for attention is the fastest at which shape, and what torch chooses.

Measured: `scaled_dot_product_attention` forward and backward, causal and not, without a mask, in
bfloat16 on CUDA and float32 on a CPU, queries, keys and values as views of one fused projection, as
our layers have them. In each round all kernels take their turn, in an order drawn anew; the first
round is thrown away. The clock counts wall seconds and waits for the device at both ends.

    ratio = median over rounds of (seconds of torch's own choice / seconds of the kernel)

The gate: outputs and gradients are those of the plain formula, to the last places of the precision.
A kernel that does not take a shape has no row.
"""

import argparse
import contextlib
import random
import time
from collections import defaultdict
from collections.abc import Iterator

import torch
from reporting import Row, add_json_option, quartiles, show, spread
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

BACKENDS = {
    "torch's choice": None,
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
}
REFUSALS = ("No available kernel", "No viable backend")
COLUMNS = {
    "kernel": ("kernel", ""),
    "forward ms": ("forward_ms", ".3f"),
    "both ms": ("both_ms", ".3f"),
    "ratio": ("ratio", ".2f"),
    "quartiles": ("spread", ""),
}
# B, T, heads, size of a head: GPT-2, its letters, BERT-base, ViT-B at 224, ViT-Ti on CIFAR-10
ON_CUDA = ["64,1024,12,64", "64,256,6,64", "32,512,12,64", "128,197,12,64", "512,65,3,64"]
ON_CPU = ["4,128,4,16"]


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--shape", action="append", help="B,T,H,K, again for more shapes")
    options.add_argument("--rounds", type=int, default=10, help="counted rounds (10)")
    options.add_argument("--repeat", type=int, default=5, help="calls a turn (5)")
    options.add_argument("--device", help="cuda where there is one, unless told")
    add_json_option(options)
    return options


@contextlib.contextmanager
def backend(name: str) -> Iterator[None]:
    """Torch may take this kernel only."""
    chosen = BACKENDS[name]
    with contextlib.nullcontext() if chosen is None else sdpa_kernel(chosen):
        yield


def heads_of(shape: tuple[int, ...], device: torch.device) -> Tensor:
    """The fused projection (B, T, 3 H K) of queries, keys and values."""
    batch, length, heads, size = shape
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    drawn = torch.randn(batch, length, 3 * heads * size, device=device, dtype=dtype)
    return drawn.requires_grad_()


def attend(fused: Tensor, size: int, *, is_causal: bool) -> Tensor:
    """What the heads read, (B, H, T, K)."""
    parts = fused.unflatten(-1, (-1, size)).transpose(1, 2).chunk(3, dim=1)
    return scaled_dot_product_attention(*parts, is_causal=is_causal)


def both_ways(fused: Tensor, size: int, *, is_causal: bool) -> tuple[Tensor, Tensor]:
    """Output, and gradient of the sum of its squares."""
    out = attend(fused, size, is_causal=is_causal)
    (slope,) = torch.autograd.grad(out.square().sum(), fused)
    return out.detach(), slope


def seconds(fused: Tensor, size: int, repeat: int, *, is_causal: bool) -> tuple[float, float]:
    """Of a forward pass, and of both."""
    taken = []
    for call in (attend, both_ways):
        _wait(fused.device)
        started = time.perf_counter()
        for _ in range(repeat):
            call(fused, size, is_causal=is_causal)
        _wait(fused.device)
        taken.append((time.perf_counter() - started) / repeat)
    return taken[0], taken[1]


def measure(fused: Tensor, size: int, rounds: int, repeat: int, *, is_causal: bool) -> list[Row]:
    """A row for each kernel that takes the shape."""
    with backend("math"):
        wanted = both_ways(fused.double(), size, is_causal=is_causal)
    names = [name for name in BACKENDS if _agrees(name, fused, size, wanted, is_causal=is_causal)]
    del wanted
    taken: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for counted in range(rounds + 1):
        for name in random.sample(names, len(names)):
            with backend(name):
                turn = seconds(fused, size, repeat, is_causal=is_causal)
            if counted:
                taken[name].append(turn)
    rows = []
    for name in names:
        pairs = zip(taken["torch's choice"], taken[name], strict=True)
        low, middle, high = quartiles([own[1] / other[1] for own, other in pairs])
        forward, both = (quartiles([turn[n] for turn in taken[name]])[1] for n in (0, 1))
        times = {"forward_ms": 1e3 * forward, "both_ms": 1e3 * both}
        rows.append({"kernel": name, **times, "ratio": middle, "spread": spread(low, high)})
    return rows


def _agrees(
    name: str, fused: Tensor, size: int, wanted: tuple[Tensor, Tensor], *, is_causal: bool
) -> bool:
    """Whether a kernel takes the shape; one that gives other numbers ends the benchmark."""
    try:
        with backend(name):
            found = both_ways(fused, size, is_causal=is_causal)
    except RuntimeError as error:
        if not str(error).startswith(REFUSALS):
            raise
        return False
    for one, other in zip(found, wanted, strict=True):
        off = ((one - other).norm() / other.norm()).item()
        if off > 8 * torch.finfo(fused.dtype).eps:
            raise SystemExit(f"{name} is off by {off:.1e} of the plain formula")
    return True


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def main() -> None:
    options = parser().parse_args()
    device = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    for text in options.shape or (ON_CUDA if device.type == "cuda" else ON_CPU):
        shape = tuple(map(int, text.split(",")))
        for is_causal in (True, False):
            fused = heads_of(shape, device)
            found = measure(fused, shape[-1], options.rounds, options.repeat, is_causal=is_causal)
            place = {"shape": text, "causal": is_causal, "device": device.type}
            title = f"B,T,H,K = {text}, {'causal' if is_causal else 'not causal'}, {fused.dtype}"
            show([{**row, **place} for row in found], COLUMNS, title=title, as_json=options.json)


if __name__ == "__main__":
    main()
