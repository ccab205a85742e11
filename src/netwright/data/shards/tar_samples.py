"""Samples of a tar file in the webdataset layout: files of one name, told apart by their endings.

    0001.jpg  0001.cls  0002.jpg  0002.cls ...      or 0001.json with a label in it

What is before the first dot is the sample; its files follow each other. Images are read by position
at any time; the file is gone through once, header by header, to find them.

Source: the webdataset format, Aizman, Maltby and Breuel, "High Performance I/O For Large Scale Deep
Learning" (2019).
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import torch

from netwright.core.errors import DataError
from netwright.core.files.json_text import json_value
from netwright.data.files.file_names import shown
from netwright.data.images.decoding import SUFFIXES, read_content_header
from netwright.data.shards.sample_index import (
    LABELS,
    SampleIndex,
    as_numbers,
    coded,
    label_text,
    some_places,
)
from netwright.data.shards.shard_files import ShardFiles
from netwright.data.shards.tar_members import Member, tar_members

CLASS, RECORD = "cls", "json"
MOST_LABEL = 2**20  # bytes of a file that holds a label
MOST_IMAGE = 2**28  # bytes of one that holds an image


class TarSample(NamedTuple):
    """The files of a sample: its name, its image, and the others by their endings."""

    key: str
    image: Member
    others: dict[str, Member]


def index_tar(files: ShardFiles, number: int, sha256: str, target: str) -> SampleIndex:
    """Find the samples of a tar file.

    Args:
        files: the shards.
        number: of the one that is meant.
        sha256: of its bytes.
        target: the ending, or the key of the .json file, that has the label; empty: as is usual.
    """
    shard = files.shards[number]
    with files.using(number) as handle:
        samples = list(_samples(tar_members(handle, shard.size, shard.name), shard.name))
    if not samples:
        raise DataError(f"{shard.name} holds no sample")
    codes, texts = coded([_label(files, number, sample, target) for sample in samples])
    some = [samples[place] for place in some_places(len(samples))]
    headers = [
        read_content_header(
            files.read(number, one.image.start, one.image.size),
            f"{shard.address}: {one.image.name}",
        )
        for one in some
    ]
    return SampleIndex(
        starts=torch.tensor([sample.image.start for sample in samples]),
        sizes=torch.tensor([sample.image.size for sample in samples]),
        codes=codes,
        texts=texts,
        headers=as_numbers(headers),
        sha256=sha256,
    )


def _samples(members: Iterable[Member], shard: str) -> Iterator[TarSample]:
    visible = (one for one in members if not one.name.rpartition("/")[2].startswith("."))
    for key, its in groupby(visible, lambda member: split_name(member.name)[0]):
        others: dict[str, Member] = {}
        images = []
        for member in its:
            ending = split_name(member.name)[1]
            if f".{ending.rpartition('.')[2]}" in SUFFIXES:
                images.append(member)
            else:
                others[ending] = member
        if len(images) != 1:
            raise DataError(
                f"{shard}: sample {shown(key)!r:.100} must have one image, got {len(images)}"
            )
        if images[0].size > MOST_IMAGE:
            raise DataError(
                f"{shard}: {shown(images[0].name)!r:.100} has {images[0].size:,} bytes, at most "
                f"{MOST_IMAGE:,} are read as an image"
            )
        yield TarSample(key, images[0], others)


def split_name(name: str) -> tuple[str, str]:
    """A member's sample and ending: what is before and behind the first dot of its last part."""
    folder, slash, base = name.rpartition("/")
    key, _, ending = base.partition(".")
    return folder + slash + key, ending.lower()


def _label(files: ShardFiles, number: int, sample: TarSample, target: str) -> str:
    shard, others = files.shards[number].name, sample.others
    key = shown(sample.key)
    ending = target if target in others else CLASS
    if ending in others and (not target or ending == target):
        text = _content(files, number, others[ending]).decode(errors="replace")
        return label_text(text, shard, key)
    if RECORD not in others:
        wanted = f".{target} and no .{RECORD}" if target else f".{CLASS} and no .{RECORD}"
        raise DataError(f"{shard}: sample {key!r:.100} has no {wanted} file that labels it")
    try:
        record = json_value(_content(files, number, others[RECORD]))
    except ValueError as error:
        raise DataError(f"{shard}: {key}.{RECORD} is not JSON: {error}") from None
    names = [target] if target else [name for name in LABELS if name in dict(_items(record))]
    if not isinstance(record, dict) or not names or names[0] not in record:
        wanted = repr(target) if target else " or ".join(LABELS)
        raise DataError(f"{shard}: {key}.{RECORD} must be an object with {wanted}")
    return label_text(record[names[0]], shard, key)


def _items(record: object) -> Iterable[tuple[str, object]]:
    return record.items() if isinstance(record, dict) else ()


def _content(files: ShardFiles, number: int, member: Member) -> bytes:
    if member.size > MOST_LABEL:
        raise DataError(
            f"{files.shards[number].name}: {shown(member.name)!r:.100} has {member.size:,} bytes, "
            f"at most {MOST_LABEL:,} are read for a label"
        )
    return files.read(number, member.start, member.size)
