"""A stream ten times as large as what its process may hold is read with memory that stays flat."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from netwright.core.peak_memory import MEBIBYTE, peak_memory
from netwright.data.loading.token_files import TokenFile, TokenStream
from netwright.data.loading.token_windows import TokenSplit, TokenWindows
from netwright.data.loading.worker_loader import build_loader
from tests.data.shards.written_shards import load, write_members
from tests.forked_ranks import FORKS
from tests.memory_limit import limit_memory

MORE = 2**28  # bytes that the process may take beside what it has when it begins to read
SHARD, SHARDS = 2**27, 68  # bytes of a file, and how many there are: 9 GB
SIDE, WINDOW = 512, 1024
IMAGE = 3 * SIDE * SIDE
GROWN = 2**25  # bytes that do not count: pools of memory fill up
TOKENS = "train-00000.bin"


def images() -> list[bytes]:
    """PPM files of 786 kB, which are read as quickly as they are written."""
    head = b"P6 %d %d 255\n" % (SIDE, SIDE)
    return [head + bytes([number % 251]) * IMAGE for number in range(SHARD // IMAGE)]


def write_tar(path: Path) -> None:
    pairs = [
        ((f"{number}.ppm", image), (f"{number}.cls", b"%d" % (number % 2)))
        for number, image in enumerate(images())
    ]
    write_members(path.with_suffix(".tar"), [one for pair in pairs for one in pair])


def write_parquet(path: Path) -> None:
    column = images()
    table = pa.table({"image": column, "label": [number % 2 for number in range(len(column))]})
    options: Any = {"compression": "none", "use_dictionary": False}
    pq.write_table(table, path.with_suffix(".parquet"), row_group_size=16, **options)


def write_tokens(path: Path) -> None:
    with (path.parent / TOKENS).open("ab") as file:
        file.write(bytes(range(256)) * (SHARD // 256))


WRITERS: dict[str, Callable[[Path], None]] = {
    "tar": write_tar,
    "parquet": write_parquet,
    "tokens": write_tokens,
}


def train_of(folder: Path, kind: str) -> Any:
    if kind != "tokens":
        return load(folder, val_size=0, test_size=0, size=(32, 32)).train
    count = (folder / TOKENS).stat().st_size // 2
    stream = TokenStream(folder, [TokenFile(TOKENS, count, "")], "uint16", 2**16)
    return TokenSplit(windows=TokenWindows(stream, WINDOW))


def most_memory() -> int:
    """The most bytes that this process has had at once."""
    return int(peak_memory(torch.device("cpu")) * MEBIBYTE)


def read_limited(folder: Path, kind: str, notes: Path) -> None:
    """Read an epoch with little more memory than what is there at its start, and note how it went.

    What torch reserves and never touches counts for the system's limit: the limit that is noted is
    that of what may be touched.
    """
    torch.set_num_threads(1)
    train = train_of(folder, kind)
    limit_memory(MORE)
    limit = most_memory() + MORE
    loader = build_loader(train, 64, seed=1)
    seen = early = 0
    for number, batch in enumerate(loader.epoch(0)):
        seen += len(batch.rows)
        if number == len(loader) // 10:
            early = most_memory()
    size = sum(file.stat().st_size for file in folder.iterdir())
    notes.write_text(f"{limit} {size} {seen - train.total} {early} {most_memory()}")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("kind", WRITERS)
def test_memory_stays_flat(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "shards"
    folder.mkdir()
    for number in range(SHARDS):
        WRITERS[kind](folder / f"{number:02}")
    process = FORKS.Process(target=read_limited, args=(folder, kind, tmp_path / "notes"))
    process.start()
    process.join()
    shutil.rmtree(folder)  # gigabytes
    assert process.exitcode == 0
    limit, size, missed, early, late = map(int, (tmp_path / "notes").read_text().split())
    assert size >= 10 * limit, f"{size:,} bytes were read within {limit:,}"
    assert missed == 0
    assert late - early < GROWN and late < min(limit, 10**9)
