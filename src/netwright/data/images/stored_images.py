"""Images that are too many for memory: decoded when a batch wants them.

Shapes: B images read together, C channels, I rows, J columns.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.data.images.decoding import decode_file
from netwright.data.images.encoder import ImageEncoder
from netwright.data.images.file_names import shown
from netwright.data.images.reading import for_each
from netwright.data.stored import StoredInputs

ENDS = 4096  # bytes at both ends of a file that stand for all of it


class StoredImages(StoredInputs):
    """Image files that stay files.

    Args:
        files: in the order of their places.
        encoder: how an image is decoded and scaled.
        content: what `content_of` said of the files when they were looked through.
    """

    def __init__(self, files: Sequence[Path], encoder: ImageEncoder, content: str) -> None:
        self.files, self.encoder, self.content = tuple(files), encoder, content

    def __len__(self) -> int:
        return len(self.files)

    @property
    def shape(self) -> tuple[int, ...]:
        """See `StoredInputs.shape`."""
        return self.encoder.input_shape

    def __repr__(self) -> str:
        return f"StoredImages({len(self)} files)"

    def read(self, rows: Tensor) -> Tensor:
        """See `StoredInputs.read`; a bad file is refused by its name."""
        form, scaling = self.encoder.form, self.encoder.scaling
        pixels = [decode_file(self.files[row], form) for row in rows.tolist()]
        return scaling.encode(torch.stack(pixels))

    def fingerprint(self) -> str:
        """The sha256 of the files' content and of how they are encoded; nothing is read for it."""
        parts = [self.content, self.encoder.to_json()]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def content_of(files: Sequence[Path]) -> str:
    """A digest of the size and both ends of each file, in order.

    An image that is saved again differs there; what a copy changes, the time, does not count.
    """

    def ends(place: int) -> bytes:
        try:
            with open(files[place], "rb") as file:
                head = file.read(ENDS)
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - ENDS))
                return hashlib.sha256(b"%d " % size + head + file.read()).digest()
        except OSError as error:
            raise DataError(f"{shown(files[place])} cannot be read: {error.strerror}") from None

    whole = hashlib.sha256()
    for digest in for_each(files, ends):
        if isinstance(digest, DataError):
            raise digest
        whole.update(digest)
    return whole.hexdigest()
