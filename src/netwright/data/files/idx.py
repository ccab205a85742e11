"""The idx format of MNIST: arrays of one dtype in a file, packed with gzip or not.

    0 0 dtype ndim | ndim sizes, big-endian 32 bits | the numbers, big-endian, last axis fastest

Source: LeCun, Cortes and Burges, "The MNIST database" (1998), section "file formats".
"""

import gzip
import io
import math
import os
import struct
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from netwright.core.errors import DataError
from netwright.core.files.regular_file import open_regular
from netwright.data.files.file_content import GZIP_MAGIC, Allowance

DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
MAX_BYTES = 2**31  # a header that asks for more is taken for a lie


def read_idx(path: Path) -> NDArray[Any]:
    """The array in an idx file; a file that is not exactly what its header says is refused."""
    try:
        with open_regular(path) as file:
            packed = file.read(2) == GZIP_MAGIC
            file.seek(0)
            return _read(path, io.BytesIO(Allowance().unpack(path, file)) if packed else file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path} is a damaged gzip file: {error}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None


def _read(path: Path, file: IO[bytes]) -> NDArray[Any]:
    dtype, shape = _read_header(path, file)
    size = math.prod(shape) * dtype.itemsize
    if size > MAX_BYTES:
        raise DataError(f"{path} must hold at most {MAX_BYTES} bytes, its header says {size}")
    content = file.read(min(size, _left(file)))  # for what is asked for, room is made at once
    if len(content) < size:
        raise DataError(f"{path} must hold {size} bytes after its header, got {len(content)}")
    if file.read(1):
        raise DataError(f"{path} must hold {size} bytes after its header, got more")
    try:
        array = np.frombuffer(content, dtype).reshape(shape)
    except ValueError as error:  # too many sizes, or a huge one beside a zero
        raise DataError(f"{path} has impossible sizes in its header: {error}") from None
    return array.astype(dtype.newbyteorder("="), copy=False)


def _left(file: IO[bytes]) -> int:
    """How many bytes come after the place that a file is read at."""
    here = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(here)
    return end - here


def _read_header(path: Path, file: IO[bytes]) -> tuple[np.dtype[Any], tuple[int, ...]]:
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in DTYPES or magic[3] == 0:
        raise DataError(f"{path} is not an idx file: it starts with {magic.hex(' ')!r}")
    sizes = file.read(4 * magic[3])
    if len(sizes) < 4 * magic[3]:
        raise DataError(f"{path} must have {magic[3]} sizes in its header, the file ends before")
    return np.dtype(DTYPES[magic[2]]), struct.unpack(f">{magic[3]}I", sizes)
