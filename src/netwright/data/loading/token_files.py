"""Token files: whole numbers of two or four bytes one after the other, and nothing else.

nanoGPT writes its corpora so. Several files are one stream: a window may begin in one and end in
the next, and how a corpus was divided into files changes nothing.

Files are read by position (`pread`), not mapped: a mapping takes as much address space as the
corpus has bytes, which a limit may not leave; its pages count as the process's own memory; and a
file that is cut short under it ends the process. What was read stays in the system's page cache.

Shapes: L tokens of the stream, B windows read together, T tokens of each.
"""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.files.inside import open_folder
from netwright.data.loading.open_files import OpenFiles, read_into
from netwright.data.loading.remote_tokens import RemoteTokens

DTYPES: dict[str, np.dtype[Any]] = {"uint16": np.dtype("<u2"), "uint32": np.dtype("<u4")}


class TokenFile(NamedTuple):
    """One file of a stream.

    Args:
        name: in the folder of the stream.
        tokens: how many it holds.
        sha256: of its bytes, in hex.
    """

    name: str
    tokens: int
    sha256: str


class TokenStream:
    """The tokens of several files, one after the other (L,).

    Args:
        folder: that holds the files, or its address.
        files: in their order.
        dtype: of a token, a name in DTYPES.
        vocab_size: every token is less than this; others are refused as they are read.
        remote: the files of an address; None: they lie here.
    """

    def __init__(
        self,
        folder: Path | str,
        files: Sequence[TokenFile],
        dtype: str,
        vocab_size: int,
        *,
        remote: RemoteTokens | None = None,
    ) -> None:
        self.folder, self.files, self.remote = folder, tuple(files), remote
        self.dtype, self.vocab_size = DTYPES[dtype], vocab_size
        self.ends = np.cumsum([file.tokens for file in self.files], dtype=np.int64)
        self._files = OpenFiles(
            partial(_opened, Path(folder)) if remote is None else remote.open,
            are_copies=remote is not None,
        )

    def __len__(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def check_sizes(self) -> None:
        """Refuse files that do not have as many bytes as their tokens take."""
        for file in self.files:
            size = self._size(file.name)
            wanted = file.tokens * self.dtype.itemsize
            if size != wanted:
                raise DataError(
                    f"{self.folder}/{file.name} has {size:,} bytes, its index says {wanted:,}: run "
                    f"netwright prepare again"
                )

    def read(self, starts: Tensor, length: int) -> Tensor:
        """The tokens from each of these places on (B, T), int64 on the CPU."""
        found = np.empty((len(starts), length), self.dtype)
        places = starts.numpy()
        first = np.searchsorted(self.ends, places, side="right")
        for row, start, file in zip(found, places.tolist(), first.tolist(), strict=True):
            self._fill(row, start, file)
        tokens = torch.from_numpy(found.astype(np.int64))
        if len(tokens) and int(found.max()) >= self.vocab_size:
            raise DataError(
                f"{self.folder} holds the token {int(found.max())}, its vocabulary has "
                f"{self.vocab_size:,}"
            )
        return tokens

    def _fill(self, row: NDArray[Any], start: int, file: int) -> None:
        """Read one window, from as many files as it lies in."""
        rest, width = memoryview(row.data).cast("B"), self.dtype.itemsize
        while rest:
            if file == len(self.files):
                raise DataError(f"{self.folder} ends at token {len(self):,}")
            begin = int(self.ends[file]) - self.files[file].tokens
            here = rest[: (int(self.ends[file]) - start) * width]
            name, is_later = self.files[file].name, len(rest) < row.nbytes
            if is_later and self.remote is not None and self.remote.held:
                here[:] = self.remote.beginning(name, len(here))
            else:
                self._read_into(name, here, (start - begin) * width)
            rest, start, file = rest[len(here) :], int(self.ends[file]), file + 1

    def _size(self, name: str) -> int:
        if self.remote is not None:
            return self.remote.size(name)
        with self._files.using(name) as handle:
            return os.fstat(handle).st_size

    def _read_into(self, name: str, target: memoryview, offset: int) -> None:
        with self._files.using(name) as handle:
            if read_into(handle, target, offset) < len(target):
                raise DataError(f"{self.folder}/{name} has become shorter while it was read")


def _opened(folder: Path, name: str) -> int:
    try:
        with open_folder(folder) as found:
            return found.open(name)
    except OSError as error:
        raise DataError(f"{folder / name} cannot be read: {error.strerror}") from None
