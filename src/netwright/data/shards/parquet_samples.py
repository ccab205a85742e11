"""Samples of a parquet file: a column of image files as bytes, and one that labels them.

Hugging Face's datasets are written so: a column of records with `bytes`, and classes by number with
their names in the head of the file. What is read at a time is a row group; those that were used
last are held, as many as the batches of one place of an epoch need.
"""

import io
import json
import os
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any

import torch

from netwright.core.errors import DataError
from netwright.core.limits import COLUMNS, UNPACKED
from netwright.data.files.file_names import shown
from netwright.data.files.remote_files import opened_remote
from netwright.data.files.shard import Shard
from netwright.data.images.decoding import read_content_header
from netwright.data.shards.sample_index import (
    LABELS,
    SampleIndex,
    as_numbers,
    coded,
    label_text,
    some_places,
)
from netwright.data.shards.shard_files import ShardFiles

BLOCK = 2**26  # bytes of row groups whose rows are mixed, and which are therefore held together
HELD = 3 * BLOCK  # a batch may have rows of two blocks
MOST_GROUP = 2**28  # bytes of one row group
FREE = 2**25  # bytes for which no ratio is looked at
AT_ONCE = 2**26  # bytes that are unpacked at a time, were each value as large as its column
MOST_ROWS = 2**10  # rows that are unpacked at a time


class PositionedFile(io.RawIOBase):
    """A file that is read by position: processes that share its descriptor share no place in it."""

    def __init__(self, handle: int, size: int) -> None:
        super().__init__()
        self.handle, self.size, self.place = handle, size, 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move the place of this object."""
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self.place, os.SEEK_END: self.size}[whence]
        self.place = begin + offset
        return self.place

    def tell(self) -> int:
        """The place of this object."""
        return self.place

    def read(self, size: int = -1) -> bytes:
        """Some bytes, or all that are left."""
        wanted = self.size - self.place if size < 0 else size
        content = os.pread(self.handle, wanted, self.place)
        self.place += len(content)
        return content


class ParquetImages:
    """The images of parquet files, by row group.

    Args:
        files: the shards.
        column: what holds the images; empty: the one of bytes.
    """

    def __init__(self, files: ShardFiles, column: str) -> None:
        self.files, self.column = files, column
        self._held: OrderedDict[tuple[int, int], list[bytes]] = OrderedDict()

    def read(self, number: int, group: int, row: int) -> bytes:
        """The image in a row of a row group of a shard."""
        key = (number, group)
        if key not in self._held:
            shard = self.files.shards[number]
            with opened_parquet(self.files, number) as file:
                column = image_column(file, shard, self.column)
                images = list(_images(file, shard, group, column))
            self._held[key] = images
            while len(self._held) > 1 and sum(map(_size, self._held.values())) > HELD:
                self._held.popitem(last=False)
        self._held.move_to_end(key)
        return self._held[key][row]


def index_parquet(
    files: ShardFiles, number: int, sha256: str, *, image: str, target: str
) -> SampleIndex:
    """Count the rows of a parquet file, and read its labels.

    Args:
        files: the shards.
        number: of the one that is meant.
        sha256: of its bytes.
        image: the column of images; empty: the one of bytes.
        target: the column of labels; empty: one of the usual names.
    """
    shard = files.shards[number]
    with opened_parquet(files, number) as file:
        head = file.metadata
        COLUMNS.check(shard.name, head.num_columns)
        column = image_column(file, shard, image)
        label = _label_column(file, shard, column, target)
        groups = [head.row_group(place) for place in range(head.num_row_groups)]
        rows = [group.num_rows for group in groups]
        if not sum(rows):
            raise DataError(f"{shard.name} holds no sample")
        _check_unpacked(shard, 8 * sum(rows))
        for group in groups:
            if group.total_byte_size > MOST_GROUP:
                raise DataError(
                    f"{shard.name} has a row group of {group.total_byte_size / 1e6:,.0f} MB, at "
                    f"most {MOST_GROUP / 1e6:,.0f} MB are held at a time: write it with a smaller "
                    f"row_group_size"
                )
        labels = list(_labels(file, shard, label))
        codes, texts = coded(labels)
        looked_at = next(place for place, count in enumerate(rows) if count)  # the others are not
        some = some_places(rows[looked_at])
        images = list(_images(file, shard, looked_at, column))
        headers = [read_content_header(images[row], f"{shard.address}: row {row}") for row in some]
    if len(labels) != sum(rows):
        raise DataError(f"{shard.name} says {sum(rows):,} rows, and has {len(labels):,} labels")
    return SampleIndex(
        starts=torch.tensor(rows).cumsum(0) - torch.tensor(rows),
        sizes=torch.tensor([max(1, group.total_byte_size) for group in groups]),
        codes=codes,
        texts=texts,
        headers=as_numbers(headers),
        sha256=sha256,
    )


def has_images(files: ShardFiles, number: int) -> bool:
    """Whether a parquet file has a column of images; any other is a table."""
    shard = files.shards[number]
    with opened_parquet(files, number) as file:
        groups = range(file.metadata.num_row_groups)
        for column in _image_columns(file):
            images = chain.from_iterable(_images(file, shard, group, column) for group in groups)
            first = next(filter(None, images), b"")
            with suppress(DataError):
                read_content_header(first, shard.address)
                return True
    return False


def names_images(shard: Shard) -> bool:
    """Whether a parquet file that lies elsewhere has a column of bytes, by the end of it alone."""
    with opened_remote(shard) as content, _parquet(shard, content) as file:
        return bool(_image_columns(file))


@contextmanager
def opened_parquet(files: ShardFiles, number: int) -> Iterator[Any]:
    """A parquet file; what cannot be read of it is refused."""
    shard = files.shards[number]
    with (
        files.using(number) as handle,
        _parquet(shard, PositionedFile(handle, shard.size)) as file,
    ):
        yield file


@contextmanager
def _parquet(shard: Shard, content: Any) -> Iterator[Any]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - optional, and slow to import
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise DataError(
            "reading parquet needs the extra: pip install 'netwright[tables]'"
        ) from None
    try:
        with pq.ParquetFile(pa.PythonFile(content, "r")) as file:
            yield file
    except DataError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise DataError(f"{shard.name} is not a readable parquet file: {reason}") from None


def image_column(file: Any, shard: Shard, wanted: str) -> str:
    """The column of images."""
    found = _image_columns(file)
    if wanted and wanted not in found:
        raise DataError(
            f"{shard.name} has no column {shown(wanted)!r} of image files; there are "
            f"{_listed(file.schema_arrow.names)}"
        )
    if wanted:
        return wanted
    if len(found) != 1:
        raise DataError(
            f"{shard.name} must have one column of image files, got {len(found)} among "
            f"{_listed(file.schema_arrow.names)}: name it with data.image"
        )
    return found[0]


def _image_columns(file: Any) -> list[str]:
    """Columns of bytes, or of records with bytes; others are numbers and texts."""
    return [field.name for field in file.schema_arrow if _holds_bytes(field.type)]


def _holds_bytes(kind: Any) -> bool:
    import pyarrow.types as pt  # noqa: PLC0415 - it is there where a file was opened

    if pt.is_struct(kind):
        return any(part.name == "bytes" and _holds_bytes(part.type) for part in kind)
    return bool(pt.is_binary(kind) or pt.is_large_binary(kind))


def _label_column(file: Any, shard: Shard, image: str, target: str) -> str:
    names = [name for name in file.schema_arrow.names if name != image]
    if target and target not in names:
        raise DataError(f"{shard.name} has no column {shown(target)!r}; there are {_listed(names)}")
    usual = [name for name in LABELS if name in names]
    found = target or (usual or (names if len(names) == 1 else [""]))[0]
    if not found:
        raise DataError(
            f"{shard.name} has no column {', '.join(LABELS[:-1])} or {LABELS[-1]}; name one of "
            f"{_listed(names)} as the target"
        )
    return found


def _labels(file: Any, shard: Shard, column: str) -> Iterator[str]:
    names = _class_names(file, column)
    size = 0
    groups = range(file.metadata.num_row_groups)
    values = chain.from_iterable(_values(file, group, column) for group in groups)
    for row, value in enumerate(values):
        label = names.get(value, value) if isinstance(value, Hashable) else value
        if names and label is value:
            raise DataError(
                f"{shard.name}: the label of sample {row} is no class, got {value!r:.40}"
            )
        text = label_text(label, shard.name, str(row))
        yield text
        size += len(text)
        _check_unpacked(shard, size)


def _class_names(file: Any, column: str) -> Mapping[Any, str]:
    """The classes that Hugging Face's datasets write into the head of a file."""
    told = (file.schema_arrow.metadata or {}).get(b"huggingface", b"{}")
    try:
        names = json.loads(told)["info"]["features"][column]["names"]
        return {place: str(name) for place, name in enumerate(names)}
    except (LookupError, TypeError, ValueError):
        return {}


def _images(file: Any, shard: Shard, group: int, column: str) -> Iterator[bytes]:
    """The images of a row group."""
    size = 0
    for value in _values(file, group, column):
        content = value.get("bytes") if isinstance(value, dict) else value
        yield content or b""  # which is refused as an image, by its row
        size += len(content or b"")
        _check_unpacked(shard, size)


def _values(file: Any, group: int, column: str) -> Iterator[Any]:
    """The values of a column in a row group: a few at a time, for one that repeats is kept once."""
    head = file.metadata.row_group(group)
    parts = [head.column(place) for place in range(head.num_columns)]
    size = sum(
        part.total_uncompressed_size
        for part in parts
        if f"{part.path_in_schema}.".startswith(f"{column}.")  # a record has a part for each field
    )
    rows = min(MOST_ROWS, max(1, AT_ONCE // max(1, size)))
    for batch in file.iter_batches(rows, row_groups=[group], columns=[column], use_threads=False):
        for value in batch.column(0):
            yield value.as_py()


def _check_unpacked(shard: Shard, size: int) -> None:
    if size > FREE + UNPACKED.value * shard.size:
        raise DataError(f"{shard.name} unpacks to far more than its size, {UNPACKED.way_out}")


def _size(images: list[bytes]) -> int:
    return sum(map(len, images))


def _listed(names: list[str]) -> str:
    return ", ".join(shown(name) for name in names[:12])
