"""Token files: whole numbers of two or four bytes one after the other, and nothing else.

nanoGPT writes its corpora so. Several files are one stream: a window may begin in one and end in
the next, and how a corpus was divided into files changes nothing.

Files are read by position (`pread`), not mapped: a mapping takes as much address space as the
corpus has bytes, which a limit may not leave; its pages count as the process's own memory; and a
file that is cut short under it ends the process. What was read stays in the system's page cache.

Shapes: L tokens of the stream, B windows read together, T tokens of each.
"""

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.files.inside import open_folder

DTYPES: dict[str, np.dtype[Any]] = {"uint16": np.dtype("<u2"), "uint32": np.dtype("<u4")}
MOST_OPEN = 128  # files: a process may usually have 1,024


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
        folder: that holds the files.
        files: in their order.
        dtype: of a token, a name in DTYPES.
        vocab_size: every token is less than this; others are refused as they are read.
    """

    def __init__(
        self, folder: Path, files: Sequence[TokenFile], dtype: str, vocab_size: int
    ) -> None:
        self.folder, self.files = folder, tuple(files)
        self.dtype, self.vocab_size = DTYPES[dtype], vocab_size
        self.ends = np.cumsum([file.tokens for file in self.files], dtype=np.int64)
        self._handles = _Handles(folder)

    def __len__(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def check_sizes(self) -> None:
        """Refuse files that do not have as many bytes as their tokens take."""
        for file in self.files:
            with self._handles.using(file.name) as handle:
                size = os.fstat(handle).st_size
            wanted = file.tokens * self.dtype.itemsize
            if size != wanted:
                raise DataError(
                    f"{self.folder / file.name} has {size:,} bytes, its index says {wanted:,}: run "
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
            self._read_into(self.files[file].name, here, (start - begin) * width)
            rest, start, file = rest[len(here) :], int(self.ends[file]), file + 1

    def _read_into(self, name: str, target: memoryview, offset: int) -> None:
        with self._handles.using(name) as handle:
            while target:
                count = os.preadv(handle, [target], offset)
                if not count:
                    raise DataError(f"{self.folder / name} has become shorter while it was read")
                target, offset = target[count:], offset + count


class _Handles:
    """Descriptors of files in a folder, of which the least used are closed; for several threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.open: OrderedDict[str, _Handle] = OrderedDict()
        self.lock = threading.Lock()

    def using(self, name: str) -> "_Handle":
        """The descriptor of a file, which stays open while it is used."""
        with self.lock:
            handle = self.open.pop(name, None) or self._opened(name)
            self.open[name] = handle
            if len(self.open) > MOST_OPEN:
                self.open.popitem(last=False)  # closed when nobody uses it any more
            return handle

    def _opened(self, name: str) -> "_Handle":
        try:
            with open_folder(self.folder) as folder:
                return _Handle(folder.open(name))
        except OSError as error:
            raise DataError(f"{self.folder / name} cannot be read: {error.strerror}") from None


class _Handle:
    """A descriptor that is closed with the last who holds it."""

    def __init__(self, number: int) -> None:
        self.number = number
        weakref.finalize(self, os.close, number)

    def __enter__(self) -> int:
        return self.number

    def __exit__(self, *error: object) -> None:
        """It stays open for the next reading."""
