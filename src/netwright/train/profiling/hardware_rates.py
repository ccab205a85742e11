"""What the hardware can do at best: products of matrices and copies, measured in a moment.

    FLOP/s = 2 n^3 / t          of a product of two (n, n) matrices in the number format of the run
    bytes/s = 2 b / t           of a copy of b bytes, which are read and written

Of several times the quickest counts, and of several n the best. What was measured is kept in
netwright's cache folder, by device, number of threads, torch's version and number format.
"""

import platform
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch

from netwright.core.checks import is_finite_number
from netwright.core.devices import describe_device
from netwright.core.errors import NetwrightError
from netwright.core.files.inside import has_file
from netwright.core.files.storage import read_bytes, read_json, write_json
from netwright.data.files.locations import home_folder
from netwright.train.precision import Precision
from netwright.train.profiling.profile_file import LARGEST

NumberFormat = Literal["float32", "tf32", "bfloat16", "float16"]
FILE = "hardware.json"  # in the cache folder
DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}  # the others are of float32
SECONDS = 0.05  # that a measurement is repeated for
LONGEST = 0.3  # seconds that one product may take
SMALLEST = 128  # the size of the first product
TELLING = ("model name", "CPU implementer", "CPU part")  # lines on a processor
TENSOR_CORES = (8, 0)  # the compute capability from which on they take float32 as TF32


class HardwareRates(NamedTuple):
    """The most that a device was seen to do.

    Args:
        flops: floating-point operations a second.
        bytes: read and written a second.
    """

    flops: float
    bytes: float


def number_format(
    precision: Precision, device: torch.device, *, convolves: bool = False
) -> NumberFormat:
    """The format in which products are computed; torch takes float32 as TF32 in convolutions.

    Args:
        precision: of the run.
        device: that computes.
        convolves: most of the work is convolutions.
    """
    if precision == "bf16-mixed":
        return "bfloat16"
    if precision == "fp16-mixed":
        return "float16"
    if device.type != "cuda" or torch.cuda.get_device_capability(device) < TENSOR_CORES:
        return "float32"
    in_products = torch.get_float32_matmul_precision() != "highest"
    return "tf32" if (torch.backends.cudnn.allow_tf32 if convolves else in_products) else "float32"


def hardware_rates(device: torch.device, kind: NumberFormat, *, seen: float = 0.0) -> HardwareRates:
    """The rates of this device, as they were measured before or are now.

    Args:
        device: that computes.
        kind: the number format of the products.
        seen: FLOP/s that a run has reached: where that is more than was measured before, it is
            measured again, since the machine may have been busy then.
    """
    path, key = home_folder() / FILE, _key(device, kind)
    known = _read(path)
    before = known.get(key, HardwareRates(0.0, 0.0))
    if before.flops > seen:
        return before
    rates = HardwareRates(*map(max, before, measure_rates(device, kind)))
    with suppress(NetwrightError, OSError):  # where nothing can be kept, it is measured each time
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, {**known, key: rates})
    return rates


def measure_rates(
    device: torch.device,
    kind: NumberFormat,
    *,
    size: int | None = None,
    copied: int | None = None,
    seconds: float = SECONDS,
) -> HardwareRates:
    """Measure them; no generator of the run is drawn from.

    Args:
        device: that computes.
        kind: the number format of the products.
        size: the largest n; by default as many as keep the device busy.
        copied: b, in bytes; by default more than caches hold.
        seconds: that each size is repeated for, at least once.
    """
    on_cpu = device.type == "cpu"
    most = size or (1024 if on_cpu else 8192 if kind in DTYPES else 4096)
    count = copied or (2**27 if on_cpu else 2**29)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if kind == "tf32" else before)
    try:
        flops = _product_rate(device, DTYPES.get(kind, torch.float32), most, seconds)
    finally:
        torch.set_float32_matmul_precision(before)
    source = torch.zeros(count, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    return HardwareRates(
        flops=flops, bytes=2 * count / _quickest(lambda: target.copy_(source), device, seconds)
    )


def _product_rate(device: torch.device, dtype: torch.dtype, most: int, seconds: float) -> float:
    """The best rate of sizes up to `most`, each twice the one before.

    A processor without instructions for a format takes minutes for the largest: where a size takes
    long, the next, which takes eight times as long, is left out.
    """
    draws = torch.Generator(device).manual_seed(0)
    n, best = min(SMALLEST, most), 0.0
    while True:
        left, right = (
            torch.randn(n, n, device=device, generator=draws).to(dtype) for _ in range(2)
        )
        product = torch.empty_like(left)
        took = _quickest(partial(torch.mm, left, right, out=product), device, seconds)
        best = max(best, 2 * n**3 / took)
        if n == most or 8 * took > LONGEST:
            return best
        n = min(2 * n, most)


def _quickest(work: Callable[[], object], device: torch.device, seconds: float) -> float:
    """The seconds of the quickest of several times; the first prepares and is not counted."""
    work()
    _wait_for(device)
    began, best = time.perf_counter(), float("inf")
    while True:
        started = time.perf_counter()
        work()
        _wait_for(device)
        now = time.perf_counter()
        best = min(best, now - started)
        if now - began >= seconds:
            return max(best, 1e-9)


def _wait_for(device: torch.device) -> None:
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


def _key(device: torch.device, kind: NumberFormat) -> str:
    name = processor_setup() if device.type == "cpu" else describe_device(device)
    return f"{name}, torch {torch.__version__}, {kind}"


def processor_setup() -> str:
    """The kind of processor, and how many threads compute on it."""
    name = _processor() or describe_device(torch.device("cpu"))
    return f"{name}, {torch.get_num_threads()} threads"


@cache
def _processor() -> str:
    """What the system tells of the processor: its name, or the numbers of its kind."""
    with suppress(NetwrightError, OSError):
        lines = read_bytes(Path("/proc/cpuinfo"), most=4096).decode().split("\n\n")[0].splitlines()
        told = [line.partition(":")[2].strip() for line in lines if line.startswith(TELLING)]
        return " ".join(told)
    return platform.processor()


def _read(path: Path) -> dict[str, HardwareRates]:
    """What was measured before; entries that no measurement gives are left out."""
    found: Any = None
    with suppress(NetwrightError):
        found = read_json(path) if has_file(path) else None
    entries = found.items() if isinstance(found, dict) else ()
    return {key: HardwareRates(*value) for key, value in entries if _are_rates(value)}


def _are_rates(value: object) -> bool:
    """Whether these are two positive numbers that the profile of a run may hold."""
    return (
        isinstance(value, list)
        and len(value) == len(HardwareRates._fields)
        and all(is_finite_number(rate) and 0 < rate <= LARGEST for rate in value)
    )
