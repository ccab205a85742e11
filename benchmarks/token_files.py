"""How fast windows of token files are read, beside nanoGPT's `get_batch`: tokens a CPU-second.

Measured: batches of 12 texts of 1,024 tokens from a file of random tokens in the page cache, by the
loader that `netwright train` has and by the lines of nanoGPT's train.py, which map the file anew
for each batch. Both give int64 tensors of inputs and targets on the CPU. In each round both read as
many batches, in an order drawn anew; the first round warms up. Also told is by how much the
memory of the process grew while all windows of the file were read twice.

    ratio = median over rounds of (tokens a second of netwright / tokens a second of nanoGPT)

The gate: the ratio is at least 0.9, and memory grows by less than a tenth of the file.
"""

import argparse
import hashlib
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from reporting import Row, add_json_option, show

from netwright.data.loading.token_files import TokenFile, TokenStream
from netwright.data.loading.token_loader import TokenLoader
from netwright.data.loading.token_windows import TokenSplit, TokenWindows

TEXTS, TOKENS = 12, 1024
COLUMNS = {
    "threads": ("workers", ""),
    "netwright, tokens/s": ("ours", ",.0f"),
    "nanoGPT, tokens/s": ("theirs", ",.0f"),
    "ratio": ("ratio", ".2f"),
    "memory grew, MB": ("grown", ".0f"),
    "of a file of, MB": ("file", ".0f"),
}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=5, help="counted rounds (5)")
    options.add_argument("--megatokens", type=int, default=100, help="in the file (100)")
    options.add_argument("--batches", type=int, default=400, help="of a turn (400)")
    add_json_option(options)
    return options


def write(folder: Path, megatokens: int) -> TokenStream:
    """A file of random tokens."""
    total, drawn = hashlib.sha256(), np.random.default_rng(0)
    with (folder / "train-00000.bin").open("wb") as file:
        for _ in range(megatokens):
            piece = drawn.integers(0, 50_000, 10**6, dtype=np.uint16).tobytes()
            total.update(piece)
            file.write(piece)
    name = TokenFile("train-00000.bin", megatokens * 10**6, total.hexdigest())
    return TokenStream(folder, [name], "uint16", 50_000)


def nanogpt(path: Path, batches: int) -> int:
    """`get_batch` of nanoGPT's train.py; gives the tokens that were read."""
    for _ in range(batches):
        data = np.memmap(path, dtype=np.uint16, mode="r")
        ix = torch.randint(len(data) - TOKENS, (TEXTS,))
        x = torch.stack([torch.from_numpy(data[i : i + TOKENS].astype(np.int64)) for i in ix])
        y = torch.stack(
            [torch.from_numpy(data[i + 1 : i + 1 + TOKENS].astype(np.int64)) for i in ix]
        )
    return batches * x.numel() if y.shape == x.shape else 0


def netwright(split: TokenSplit, workers: int, batches: int) -> int:
    """As many batches of the loader; its order is drawn under the clock."""
    read = 0
    for number, batch in enumerate(TokenLoader(split, TEXTS, workers=workers).epoch(0)):
        if number == batches:
            break
        read += batch.inputs.numel()
    return read


def rate(work: Callable[[], int]) -> float:
    began = time.process_time()
    return work() / (time.process_time() - began)


def resident() -> int:
    """Bytes that the process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


def main() -> None:
    options = parser().parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        split = TokenSplit(windows=TokenWindows(write(folder, options.megatokens), TOKENS))
        for workers in (0, 2):
            turns: dict[str, Callable[[], int]] = {
                "ours": lambda workers=workers: netwright(split, workers, options.batches),
                "theirs": lambda: nanogpt(folder / "train-00000.bin", options.batches),
            }
            rounds = []
            for _ in range(options.rounds + 1):
                order = random.sample(list(turns), len(turns))
                rounds.append({key: rate(turns[key]) for key in order})
            before = resident()
            for epoch in range(2):
                for _batch in TokenLoader(split, TEXTS, workers=workers).epoch(epoch):
                    pass
            medians = {key: statistics.median(one[key] for one in rounds[1:]) for key in turns}
            rows.append(
                {
                    "workers": workers,
                    **medians,
                    "ratio": statistics.median(one["ours"] / one["theirs"] for one in rounds[1:]),
                    "grown": (resident() - before) / 1e6,
                    "file": 2 * options.megatokens,
                }
            )
    show(
        rows,
        COLUMNS,
        title="Tokens a CPU-second that are read from token files",
        as_json=options.json,
    )
    is_good = all(row["ratio"] >= 0.9 and row["grown"] < row["file"] / 10 for row in rows)
    sys.exit(0 if is_good else "slower than nanoGPT, or memory grew")


if __name__ == "__main__":
    main()
