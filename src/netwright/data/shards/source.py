"""Images in shards as data: tar files in the webdataset layout, or parquet, of any size.

Each shard is read once to count its samples; what was counted is kept in the cache. Labels are held
in memory, images are read when a batch wants them. Every sample comes once an epoch, in an order
that follows from seed and epoch, for any number of ranks and workers: see `loading/loader.py`.

Shapes: N samples.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Annotated, Literal

import numpy as np
import torch
from torch import Tensor

from netwright.core.config import Doc, Positive
from netwright.core.errors import ConfigError, DataError
from netwright.core.files.process_lock import ProcessLock
from netwright.core.terminal.console import Bar
from netwright.data.dataset import Data, Split, check_data
from netwright.data.files.addresses import check_no_password, is_address
from netwright.data.files.file_names import shown
from netwright.data.files.locations import made_cache
from netwright.data.files.remote_files import RemoteFiles, list_remote
from netwright.data.files.shard import SAMPLES, TAR, Shard, is_shard
from netwright.data.images.chosen_form import ImageConfig, choose_form
from netwright.data.images.fitted_encoder import fit_encoder
from netwright.data.images.labelled import LabelledImages, divide
from netwright.data.images.listing import PART_OF
from netwright.data.loading.stored import StoredSplit
from netwright.data.shards.parquet_samples import has_images, index_parquet, names_images
from netwright.data.shards.sample_index import SampleIndex, as_headers, index_name
from netwright.data.shards.shard_files import (
    ShardFiles,
    find_remote,
    find_shards,
)
from netwright.data.shards.sharded_images import ShardedImages
from netwright.data.shards.sharded_pixels import ShardedPixels
from netwright.data.shards.tar_samples import index_tar
from netwright.data.source import Source
from netwright.data.tables.column_cells import Coded, CodedCells
from netwright.data.tables.number_marks import as_number
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.targets import TargetEncoder

LABEL = "label"
BESIDE = (".json", ".idx")  # what programs that write shards note beside them
AT_ONCE = 4  # shards that are counted at a time
CHUNK = 2**20


@dataclass(frozen=True, kw_only=True)
class ImageShardsConfig(ImageConfig):
    """Shards of images of your own."""

    path: Annotated[
        str,
        Doc(
            "a folder of .tar or .parquet files, a pattern such as shards/train-*.tar, or an "
            "address such as s3://bucket/shards/"
        ),
    ] = ""
    target: Annotated[
        str,
        Doc(
            "what labels a sample: an ending or a key of the .json files in .tar, a column of "
            ".parquet; default: cls or label"
        ),
    ] = ""
    target_kind: Annotated[
        Literal["auto", "class", "real"],
        Doc("kind of target; auto: texts and whole numbers are classes"),
    ] = "auto"
    image: Annotated[
        str, Doc("the column of .parquet files with the images; default: the one of bytes")
    ] = ""
    cache_gb: Annotated[
        Positive, Doc("GB on this machine for copies of shards that lie elsewhere")
    ] = 20.0

    def __post_init__(self) -> None:
        """Refuse what no file may keep."""
        super().__post_init__()
        check_no_password(self.path)


def holds_image_shards(path: str) -> bool:
    """Whether a path has shards of images: .tar files, or .parquet with a column of image files.

    A folder, with the folders in it, has nothing else: beside other files a .tar is what they were
    packed in.
    """
    if is_address(path):
        found, _ = list_remote(path, is_shard)
        return bool(found) and (found[0].is_tar or names_images(found[0]))
    shards = []
    for name in _files_below(path) if os.path.isdir(path) else [path]:
        if not is_shard(name, (*SAMPLES, *BESIDE)):
            return False  # at the first: there may be millions of images
        shards += [name] if is_shard(name) else []
    if not shards or is_shard(shards[0], TAR):
        return bool(shards)
    with suppress(DataError):  # which who reads it as a table will tell
        return has_images(ShardFiles(find_shards(path)[:1]), 0)
    return False


def _files_below(folder: str) -> Iterator[str]:
    """The names of all files, but for those that are hidden."""
    for _, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name[0] != "."]
        yield from (name for name in names if name[0] != ".")


def load_image_shards(config: ImageShardsConfig) -> Data:
    """Open shards; what cannot be learned from is refused before any training."""
    if not config.path:
        raise ConfigError("path is empty, wanted a folder of .tar or .parquet files")
    files, held = open_shards(config.path, config.cache_gb)
    indices = count_samples(files, config)
    whole = _labelled(files.shards, indices, config)
    form, notes = choose_form(as_headers(torch.cat([one.headers for one in indices])), config)
    places, divided = divide(
        whole, val_size=config.val_size, test_size=config.test_size, seed=config.split_seed
    )
    pixels = ShardedPixels(files, indices, column=config.image)

    def of_rows(rows: Tensor) -> Tensor:
        return pixels.read(rows.sort().values, form)  # in the order in which they lie

    encoder = fit_encoder(whole, form, config.normalize, places["train"], of_rows)
    stored = ShardedImages(pixels, encoder, held=held)
    split = StoredSplit(stored=stored, targets=whole.targets)
    parts: dict[str, Split] = {part: split.take(rows) for part, rows in places.items()}
    data = Data(
        name=shown(config.path.rstrip("/").rpartition("/")[2] or config.path),
        spec=encoder.spec,
        train=parts["train"],
        val=parts.get("val"),
        test=parts.get("test"),
        preprocessor=encoder,
        notes=(_counted(stored, indices), *notes, divided),
        test_is_given="test" in whole.parts,
    )
    check_data(data)
    return data


def open_shards(path: str, cache_gb: float) -> tuple[ShardFiles, int]:
    """The shards at a path or address, and the bytes of them that are at hand at once (0: all)."""
    if not is_address(path):
        return ShardFiles(find_shards(path)), 0
    shards = find_remote(path)
    most = int(cache_gb * 1e9)
    remote = RemoteFiles(made_cache("remote", "shards are copied to"), most)
    return ShardFiles(shards, remote.open), most // 3


def count_samples(files: ShardFiles, config: ImageShardsConfig) -> list[SampleIndex]:
    """What is counted of each shard, now or by an earlier run."""
    cache = made_cache("shards", "the samples of shards are noted")
    bar = Bar(len(files), text="counting samples", after=2.0)

    def count(number: int) -> SampleIndex:
        path = cache / index_name(files.shards[number], config.target, config.image)
        found = SampleIndex.load(path)
        if found is None:
            found = _counted_now(files, number, config)
            found.save(path)
        return found

    found: list[SampleIndex] = []
    try:
        # One process at a time: ranks of one run ask for it at once.
        with ProcessLock(cache / "counting.lock"), ThreadPoolExecutor(AT_ONCE) as threads:
            for index in threads.map(count, range(len(files))):
                found.append(index)
                bar.move(len(found), "counting samples")
    finally:
        bar.close()
    return found


def _counted_now(files: ShardFiles, number: int, config: ImageShardsConfig) -> SampleIndex:
    with files.using(number):  # which keeps a copy open that others have no room for
        sha256 = _sha256(files, number)
        if files.shards[number].is_tar:
            return index_tar(files, number, sha256, config.target)
        return index_parquet(files, number, sha256, image=config.image, target=config.target)


def _sha256(files: ShardFiles, number: int) -> str:
    total, place = hashlib.sha256(), 0
    with files.using(number) as handle:
        while content := os.pread(handle, CHUNK, place):
            total.update(content)
            place += len(content)
    return total.hexdigest()


def _labelled(
    shards: Sequence[Shard], indices: Sequence[SampleIndex], config: ImageShardsConfig
) -> LabelledImages:
    """The targets of all samples, and their parts where the names of shards say them."""
    texts = dict.fromkeys(chain.from_iterable(index.texts for index in indices))
    code_of = {text: code for code, text in enumerate(texts)}
    codes = [
        np.array([code_of[text] for text in index.texts], np.int32)[index.codes.numpy()]
        for index in indices
    ]
    table = RawTable(
        name=shown(config.path),
        columns={LABEL: CodedCells(Coded(np.concatenate(codes), list(texts)))},
        positions=range(sum(map(len, indices))),
    )
    kind = config.target_kind
    if kind == "auto":
        kind = "real" if _are_reals(texts) else "class"
    target = TargetEncoder.fit(table, (LABEL,), kind)
    parts = _parts(shards)
    return LabelledImages(
        files=(),
        targets=target.encode(table),
        target=target.kind,
        class_names=target.class_names,
        target_names=() if target.kind == "class" else (config.target or LABEL,),
        parts=tuple(
            part for part, index in zip(parts, indices, strict=False) for _ in range(len(index))
        ),
        how="by the names of the shards",
    )


def _are_reals(texts: Iterable[str]) -> bool:
    """Whether labels are numbers, and not all of them whole."""
    numbers = [as_number(text) for text in texts]
    known = [number for number in numbers if number is not None]
    return len(known) == len(numbers) and any(number % 1 for number in known)


def _parts(shards: Sequence[Shard]) -> list[str]:
    """The part that a word in the name of each shard says; none where one does not say it.

    Names begin below the folder that holds all of them, however a path or an address is written.
    """
    names = [shard.address.split("/") for shard in shards]
    levels = zip(*(name[:-1] for name in names), strict=False)
    common = sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, levels))
    found = []
    for name in ("/".join(name[common:]) for name in names):
        said = {PART_OF[word] for word in re.split(r"[^a-z]+", name.lower()) if word in PART_OF}
        found.append(said.pop() if len(said) == 1 else "")
    return found if all(found) and "train" in found else []


def _counted(stored: ShardedImages, indices: Sequence[SampleIndex]) -> str:
    looked = sum(len(index.headers) for index in indices)
    shards = "1 shard" if len(indices) == 1 else f"{len(indices):,} shards"
    return (
        f"{len(stored):,} samples in {shards}, of which {looked:,} were looked at to choose the "
        f"form of all; images are read batch by batch, train.workers=N speeds this up"
    )


SOURCE = Source(
    config=ImageShardsConfig,
    load=load_image_shards,
    sentence="your own images of any number in shards: .tar (webdataset) or .parquet",
    origin="your files",
    licence="yours",
    inputs=("image",),
)
