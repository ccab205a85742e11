"""The bytes of data files, unpacked where they are packed, within what they may take together.

gzip packs at most 1,032 to 1, so that a mail of 6 MB can hold 6 GB of the same letter; text and
tables of measurements come to 3 to 20, and what is nearly all zeros to about 100. What is unpacked
is compared with what was read of the archive while it goes on: a bomb ends after its first 32 MB.
"""

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from netwright.core.errors import DataError
from netwright.core.files.regular_file import open_regular
from netwright.core.limits import CONTENT, UNPACKED

GZIP_MAGIC = b"\x1f\x8b"
FREE = 32 * 10**6  # unpacked bytes for which no ratio is looked at: any machine has room for them
PIECE = 2**20  # bytes that are unpacked at a time


class Allowance:
    """What files that are read together may come to: one object for all of them."""

    def __init__(self) -> None:
        self.packed = 0  # bytes of archives
        self.unpacked = 0  # bytes that came out of them
        self.total = 0  # bytes of all files, unpacked

    def take(self, path: Path, size: int) -> None:
        """Count bytes of a file before they are read; too many are refused."""
        self.total += size
        CONTENT.check(path, self.total / 1e9, "and the files read with it have")

    def unpack(self, path: Path, file: BinaryIO) -> bytes:
        """The content of a gzip file; what cannot be unpacked raises what `gzip` raises."""
        return b"".join(self.unpack_pieces(path, file))

    def unpack_pieces(self, path: Path, file: BinaryIO) -> Iterator[bytes]:
        """The same, a piece at a time."""
        before = self.packed
        with gzip.GzipFile(fileobj=file) as unpacked:
            while piece := unpacked.read(PIECE):
                self.take(path, len(piece))
                self.unpacked += len(piece)
                self.packed = before + file.tell()
                if self.unpacked > FREE + UNPACKED.value * self.packed:
                    raise DataError(
                        f"{path} unpacks to far more than its size, {UNPACKED.way_out}, or unpack "
                        "it yourself"
                    )
                yield piece


def read_content(path: Path, allowance: Allowance | None = None) -> bytes:
    """The bytes of a regular file, unpacked where its name ends in .gz.

    What cannot be opened or unpacked raises an OSError, or what `gzip` raises.

    Args:
        path: of the file.
        allowance: of the files that are read together; None: it is read alone.
    """
    allowance = allowance or Allowance()
    with open_regular(path) as file:
        if path.name.lower().endswith(".gz"):
            return allowance.unpack(path, file)
        allowance.take(path, os.fstat(file.fileno()).st_size)
        return file.read()


def read_pieces(path: Path, allowance: Allowance) -> Iterator[bytes]:
    """The same, a piece at a time: no more than one is held."""
    with open_regular(path) as file:
        if path.name.lower().endswith(".gz"):
            yield from allowance.unpack_pieces(path, file)
            return
        while piece := file.read(PIECE):
            allowance.take(path, len(piece))
            yield piece
