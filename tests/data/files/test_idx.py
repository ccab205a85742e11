"""The idx format: arrays come back as they were written, and every lie is refused."""

import gzip
import os
import re
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as arrays
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from numpy.typing import NDArray

from netwright.core.errors import DataError
from netwright.data.files import file_content
from netwright.data.files.idx import DTYPES, MAX_BYTES, read_idx

IMAGES = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)


def idx_bytes(array: NDArray[Any]) -> bytes:
    code = next(code for code, dtype in DTYPES.items() if np.dtype(dtype) == array.dtype)
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, code, array.ndim]) + sizes + array.tobytes()


def written(folder: Path, content: bytes) -> Path:
    path = folder / "file.idx"
    path.write_bytes(content)
    return path


@given(
    array=st.sampled_from(sorted(DTYPES.values())).flatmap(
        lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_side=0, max_dims=4, max_side=5))
    ),
    packed=st.booleans(),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_arrays_come_back_as_they_were_written(
    tmp_path: Path, array: NDArray[Any], packed: bool
) -> None:
    content = idx_bytes(array)
    back = read_idx(written(tmp_path, gzip.compress(content, mtime=0) if packed else content))
    assert back.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(back, array)


def test_the_published_header_by_hand(tmp_path: Path) -> None:
    # 2051 is 0 0 8 3: bytes in three dimensions; then 1 image of 1 by 2 pixels.
    content = struct.pack(">IIII", 2051, 1, 1, 2) + b"\x07\xff"
    assert read_idx(written(tmp_path, content)).tolist() == [[[7, 255]]]


@pytest.mark.parametrize(
    ("code", "kind"),
    [(0x08, "B"), (0x09, "b"), (0x0B, "h"), (0x0C, "i"), (0x0D, "f"), (0x0E, "d")],
)
def test_every_published_code_of_a_dtype_by_hand(tmp_path: Path, code: int, kind: str) -> None:
    content = bytes([0, 0, code, 1, 0, 0, 0, 2]) + struct.pack(f">2{kind}", 3, 100)
    read = read_idx(written(tmp_path, content))
    assert read.tolist() == [3, 100]
    assert read.dtype == np.dtype(kind)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is not an idx file: it starts with ''"),
        (b"\0\0\x08", "is not an idx file: it starts with '00 00 08'"),
        (b"P5 28 28", "is not an idx file: it starts with '50 35 20 32'"),
        (b"\0\0\x07\x01\0\0\0\0", "is not an idx file: it starts with '00 00 07 01'"),
        (b"\0\0\x08\0\x01", "is not an idx file: it starts with '00 00 08 00'"),
        (b"\0\0\x08\x03\0\0\0\x01", "must have 3 sizes in its header, the file ends before"),
        (idx_bytes(IMAGES)[:-1], "must hold 12 bytes after its header, got 11"),
        (idx_bytes(IMAGES) + b"\0", "must hold 12 bytes after its header, got more"),
        (
            struct.pack(">IIII", 2051, 2**32 - 1, 2**32 - 1, 2**32 - 1),
            f"must hold at most {MAX_BYTES} bytes, its header says {(2**32 - 1) ** 3}",
        ),
        (
            gzip.compress(idx_bytes(IMAGES), mtime=0)[:-9],
            "is a damaged gzip file: Compressed file ended before the end-of-stream marker was "
            "reached",
        ),
        (
            gzip.compress(idx_bytes(IMAGES) + b"\0" * 1000, mtime=0),
            "must hold 12 bytes after its header, got more",
        ),
    ],
)
def test_every_lie_is_refused(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(DataError, match=f"^{re.escape(f'{path} {sentence}')}$"):
        read_idx(path)


def test_a_flipped_bit_in_a_gzip_file_is_refused(tmp_path: Path) -> None:
    content = bytearray(gzip.compress(idx_bytes(IMAGES), mtime=0))
    content[-6] ^= 1  # in the checksum
    with pytest.raises(DataError, match="is a damaged gzip file: CRC check failed"):
        read_idx(written(tmp_path, bytes(content)))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "none.idx"
    with pytest.raises(DataError, match=f"^{re.escape(str(path))} cannot be read: No such file"):
        read_idx(path)


def test_a_packed_header_that_promises_two_gigabytes_of_zeros_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_content, "FREE", 2**20)
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(struct.pack(">4BI", 0, 0, 8, 1, 2**22) + bytes(2**22)))
    with pytest.raises(DataError, match="unpacks to far more than its size"):
        read_idx(path)


@pytest.mark.parametrize("packed", [False, True])
def test_no_room_is_made_for_what_a_header_alone_promises(tmp_path: Path, packed: bool) -> None:
    content = struct.pack(">4BI", 0, 0, 8, 1, MAX_BYTES) + b"\x07"
    path = written(tmp_path, gzip.compress(content, mtime=0) if packed else content)
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=rf"must hold {MAX_BYTES} bytes .*, got 1$"):
            read_idx(path)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("sizes", [(1,) * 65, (1,) * 255, (0, *[2**32 - 1] * 3)])
def test_sizes_that_no_array_has_are_refused(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    header = bytes([0, 0, 8, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes)
    with pytest.raises(DataError, match="has impossible sizes in its header: "):
        read_idx(written(tmp_path, header + bytes(min(sizes))))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a")
    with pytest.raises(DataError, match="is a pipe or socket, wanted a regular file"):
        read_idx(tmp_path / "a")
