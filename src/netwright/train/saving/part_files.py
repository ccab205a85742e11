"""The files of a checkpoint that several ranks write together, and those that they read again.

part-00002-of-00004.safetensors   the rows of every divided tensor that the second of four ranks had

How they are written together is in `shared_save.py`. Other numbers of ranks read the rows that
they need from the files that hold them.

Shapes: n rows of a tensor.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.files.manifest import whole_folder
from netwright.core.files.open_tensors import open_tensors
from netwright.core.files.storage import Content, new_folder
from netwright.train.engines.engine import Engine
from netwright.train.engines.part import rows_of
from netwright.train.saving.packing import ReadPart

PART = re.compile(r"part-\d{5}-of-\d{5}\.safetensors")


def is_common(name: str) -> bool:
    """Whether a file of a checkpoint is of all ranks."""
    return not PART.fullmatch(name)


def part_name(rank: int, world: int) -> str:
    """The file of one rank."""
    return f"part-{rank + 1:05d}-of-{world:05d}.safetensors"


def write_folder(folder: Path, files: Mapping[str, Content], *, inside: Path | None) -> None:
    """Write files to a new folder, whole or not at all."""
    needs = sum(map(len, files.values()))
    with new_folder(folder, needs=needs, inside=inside) as staging:
        for name, content in files.items():
            staging.write(name, content)


def check_parts(place: Path, wanted: Iterable[str], files: Collection[str]) -> None:
    """Refuse a checkpoint that lacks the file of a rank."""
    for name in wanted:
        if name not in files:
            raise DataError(f"{place} lacks {name!r}: the checkpoint is incomplete")


def part_names(values: Mapping[str, Any]) -> list[str]:
    """The files of the ranks that wrote a checkpoint, in their order."""
    world = values.get("parts", 0)
    if type(world) is not int or not 0 <= world < 10**5:
        raise DataError(f"{world!r:.20} is not a number of processes that wrote a checkpoint")
    return [part_name(rank, world) for rank in range(world)]


@contextmanager
def open_parts(
    place: Path, values: Mapping[str, Any], engine: Engine, *, inside: Path | None
) -> Iterator[ReadPart]:
    """What gives this rank its rows of each divided tensor, from files that were checked.

    Args:
        place: of the checkpoint.
        values: its state.json.
        engine: knows which rows this rank holds now.
        inside: the run around it.
    """
    names, ranks = part_names(values), engine.ranks
    is_same = engine.shards and ranks.world == len(names)
    needed = {ranks.rank: names[ranks.rank]} if is_same else dict(enumerate(names))
    with ExitStack() as held:
        wanted = set(needed.values()).__contains__
        files = held.enter_context(whole_folder(place, inside=inside, wanted=wanted))
        check_parts(place, needed.values(), files)
        opened = {
            rank: held.enter_context(open_tensors(files[name], place / name))
            for rank, name in needed.items()
        }

        def part(path: str, shape: tuple[int, ...]) -> Tensor:
            read = partial(_read_rows, opened, len(names), path, shape[0])
            return engine.put_together(shape, read)

        yield part


def _read_rows(
    files: Mapping[int, Any], world: int, path: str, count: int, start: int, stop: int
) -> Tensor:
    """Rows from start to stop of a tensor of n, from the files of those that held them."""
    found = []
    for rank, file in files.items():
        if path not in file.keys():
            raise DataError(f"the tensor {path!r} is missing")
        held = rows_of(count, rank, world)
        first, last = max(start, held.start), min(stop, held.stop)
        found.append(file.get_slice(path)[first - held.start : max(first, last) - held.start])
    rows = torch.cat(found)
    if len(rows) != stop - start:
        raise DataError(f"the tensor {path!r} has {len(rows)} rows, wanted {stop - start}")
    return rows
