"""The files of a checkpoint that several ranks write together, and those that they read again.

part-00002-of-00004.safetensors   the rows of every divided tensor that the second of four ranks had

Each rank writes its file into one temporary folder; the first one lists all their sums in the
manifest and gives the folder its name. So a checkpoint is whole or absent, whoever fails or is
killed. Other numbers of ranks read the rows that they need from the files that hold them.

Shapes: n rows of a tensor.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from netwright.core.errors import DataError, NetwrightError, RunError
from netwright.core.files.manifest import whole_folder
from netwright.core.files.open_tensors import open_tensors
from netwright.core.files.storage import Content, Staging, new_folder, shared_folder
from netwright.train.engines.engine import Engine
from netwright.train.engines.part import rows_of
from netwright.train.ranks import Ranks
from netwright.train.saving.packing import ReadPart

PART = re.compile(r"part-\d{5}-of-\d{5}\.safetensors")
SAVING = "the save of a checkpoint"  # the work in which a rank is lost


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


def write_together(
    folder: Path, files: Mapping[str, Content], own: Content, ranks: Ranks, *, inside: Path | None
) -> None:
    """Write a new folder with a file of each rank; where one cannot, nobody has, and all say so.

    Args:
        folder: of the checkpoint, as the first rank names it.
        files: of all ranks, which the first writes.
        own: this rank's file.
        ranks: the processes that save.
        inside: the run, as the first rank names it.
    """
    name = part_name(ranks.rank, ranks.world)
    with ExitStack() as held:
        opened: list[Staging] = []

        def begin() -> Any:
            if not ranks.is_first:
                return None
            needs = len(own) + sum(map(len, files.values()))
            opened.append(held.enter_context(new_folder(folder, needs=needs, inside=inside)))
            for common, content in files.items():
                opened[0].write(common, content)
            return [str(opened[0].path), str(folder), None if inside is None else str(inside)]

        staging, final, around = _each(ranks, begin)[0]

        def write() -> str:
            if not opened:
                here = None if around is None else Path(around)
                shared = shared_folder(Path(staging), Path(final), inside=here)
                opened.append(held.enter_context(shared))
            opened[0].write(name, own)
            return opened[0].sums[name]

        sums = _each(ranks, write)
        if ranks.is_first:
            names = [part_name(rank, ranks.world) for rank in range(ranks.world)]
            opened[0].sums.update(zip(names, sums, strict=True))
        _each(ranks, held.close)  # the manifest, and the name


def _each(ranks: Ranks, work: Callable[[], Any]) -> list[Any]:
    """Let every rank do its work: what each gives as JSON, or on all ranks the error of one."""
    given, error = None, ""
    try:
        given = work()
    except NetwrightError as failed:
        error = str(failed)
    told = [json.loads(one) for one in ranks.gather(json.dumps([given, error]).encode(), SAVING)]
    for rank, (_, failed_there) in enumerate(told):
        if failed_there:
            who = "" if ranks.is_alone else f"rank {rank} could not save a checkpoint: "
            raise RunError(f"{who}{failed_there}")
    return [one for one, _ in told]


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
