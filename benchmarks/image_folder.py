"""How fast a folder of photos becomes bytes of one size, beside pillow alone and torchvision.

Measured: JPEG files of 500 x 375, made on the spot, in a folder for each of ten classes; decoded,
brought to 224 x 224 and to 64 x 64 and stacked in memory (N, 3, I, J).

    pillow           a loop: open, convert, resize, to a tensor
    pillow-threads   the same in as many threads as netwright has
    torchvision      its ImageFolder and a DataLoader with as many worker processes
    read-pixels      netwright's reader alone
    image-folder     netwright's whole source: files found, heads read, decoded, classes divided,
                     the same image looked for in several parts

In each round all take their turn, in an order drawn anew; the first round is thrown away. The clock
runs over wall seconds; CPU-seconds are those of all threads and processes.

    ratio = median over rounds of (seconds of pillow-threads / seconds of the contestant)

1.00 is as fast as pillow in threads. `difference` is the mean distance of the bytes from pillow's:
netwright lets a JPEG be decoded at a half, a quarter or an eighth where that is more than enough.
"""

import argparse
import importlib.util
import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from contest import unseen
from PIL import Image
from reporting import add_json_option, measure_box, quartiles, show, spread
from torch import Tensor

from netwright.data.images.decoding import ImageForm
from netwright.data.images.folder import ImageFolderConfig, load_image_folder
from netwright.data.images.reading import MOST_THREADS, read_pixels

YARDSTICK = "pillow-threads"
CLASSES = 10
SIDES = (224, 64)
COLUMNS = {
    "contestant": ("name", ""),
    "images/s": ("images_per_s", ",.0f"),
    "per CPU-s": ("images_per_cpu_s", ",.0f"),
    "ratio": ("ratio", ".2f"),
    "quartiles": ("spread", ""),
    "difference": ("difference", ".2f"),
}
Read = Callable[[], Tensor | None]


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=3, help="counted rounds (3)")
    options.add_argument("--images", type=int, default=400, help="files (400)")
    options.add_argument("--threads", type=int, help=f"of all; the CPU's, at most {MOST_THREADS}")
    add_json_option(options)
    return options


def make_photos(root: Path, count: int) -> list[Path]:
    """Clouds of colour with the grain of a camera, a tenth of them in each class."""
    draws = np.random.default_rng(0)
    files = [root / str(number % CLASSES) / f"{number:04}.jpg" for number in range(count)]
    for path in files:
        path.parent.mkdir(exist_ok=True)
        coarse = Image.fromarray(draws.integers(0, 256, (24, 32, 3), dtype=np.uint8))
        clouds = np.asarray(coarse.resize((500, 375), Image.Resampling.BICUBIC))
        grain = draws.integers(-12, 13, clouds.shape, dtype=np.int16)
        Image.fromarray((clouds + grain).clip(0, 255).astype(np.uint8)).save(path, quality=90)
    return sorted(files)  # as both folder readers have them


def decode(path: Path, side: int) -> Tensor:
    with Image.open(path) as image:
        small = image.convert("RGB").resize((side, side), Image.Resampling.BILINEAR)
    return torch.from_numpy(np.array(small)).permute(2, 0, 1)


def in_threads(files: Sequence[Path], side: int, threads: int) -> Tensor:
    with ThreadPoolExecutor(threads) as pool:
        return torch.stack(list(pool.map(lambda path: decode(path, side), files)))


def load_folder(root: Path, side: int) -> None:
    load_image_folder(ImageFolderConfig(path=str(root), size=(side,)))


def torchvision_reader(root: Path, side: int, workers: int) -> Read:
    from torch.utils.data import DataLoader
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2

    folder = ImageFolder(root, v2.Compose([v2.Resize((side, side)), v2.PILToTensor()]))
    loader = DataLoader(folder, batch_size=50, num_workers=workers)
    return lambda: torch.cat([images for images, _ in loader])


def contestants(root: Path, files: Sequence[Path], side: int, threads: int) -> dict[str, Read]:
    """Who reads, by name; torchvision where it is installed."""
    form = ImageForm(mode="RGB", height=side, width=side)
    readers: dict[str, Read] = {
        "pillow": lambda: torch.stack([decode(path, side) for path in files]),
        YARDSTICK: lambda: in_threads(files, side, threads),
        "read-pixels": lambda: read_pixels(files, form)[0],
        "image-folder": lambda: load_folder(root, side),
    }
    if importlib.util.find_spec("torchvision"):
        readers["torchvision"] = torchvision_reader(root, side, threads)
    return readers


def clocks() -> tuple[float, float]:
    """Wall seconds, and CPU-seconds of this process and of those that it has ended."""
    return time.perf_counter(), sum(os.times()[:4])


def take_turn(read: Read) -> tuple[Tensor | None, float, float]:
    """What was read, and the wall seconds and CPU-seconds that it took."""
    with unseen():
        wall, cpu = clocks()
        pixels = read()
        wall_after, cpu_after = clocks()
    return pixels, wall_after - wall, cpu_after - cpu


def fight(readers: dict[str, Read], rounds: int, images: int) -> list[dict[str, Any]]:
    """All take their turns; a row each."""
    order = random.Random(0)
    wall: dict[str, list[float]] = {name: [] for name in readers}
    cpu: dict[str, list[float]] = {name: [] for name in readers}
    differences: dict[str, float] = {}
    exact = readers["pillow"]()
    for number in range(rounds + 1):
        for name in order.sample(list(readers), len(readers)):
            pixels, wall_s, cpu_s = take_turn(readers[name])
            if number:
                wall[name].append(wall_s)
                cpu[name].append(cpu_s)
            elif pixels is not None:
                differences[name] = (pixels.short() - exact).abs().float().mean().item()
    rows = []
    for name in readers:
        pairs = zip(wall[YARDSTICK], wall[name], strict=True)
        low, ratio, high = quartiles([there / here for there, here in pairs])
        rows.append(
            {
                "name": name,
                "images_per_s": images / quartiles(wall[name])[1],
                "images_per_cpu_s": images / quartiles(cpu[name])[1],
                "ratio": ratio,
                "spread": spread(low, high, ".2f"),
                "difference": differences.get(name),
                "rounds": rounds,
            }
        )
    return rows


def main() -> None:
    options = parser().parse_args()
    threads = min(MOST_THREADS, options.threads or torch.get_num_threads())
    box = measure_box(threads)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        files = make_photos(root, options.images)
        for side in SIDES:
            readers = contestants(root, files, side, threads)
            place = {"side": side, "images": len(files), "box": box}
            rows = [{**row, **place} for row in fight(readers, options.rounds, len(files))]
            title = f"{len(files)} photos of 500 x 375 to {side} x {side}, {threads} thread(s)"
            show(rows, COLUMNS, title=title, as_json=options.json)


if __name__ == "__main__":
    main()
