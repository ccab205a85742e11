"""Images that are too many for memory: decoded when a batch wants them.

Shapes: B images read together, C channels, I rows, J columns.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from netwright.data.images.decoding import decode_file
from netwright.data.images.encoder import ImageEncoder
from netwright.data.loading.stored import StoredInputs


class StoredImages(StoredInputs):
    """Image files that stay files.

    Args:
        files: in the order of their places.
        encoder: how an image is decoded and scaled.
        digests: the sha256 of each file's bytes when it was looked through.
    """

    def __init__(
        self, files: Sequence[Path], encoder: ImageEncoder, digests: Sequence[bytes]
    ) -> None:
        self.files, self.encoder = tuple(files), encoder
        self.content = hashlib.sha256(b"".join(digests)).hexdigest()

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
        """The sha256 of the files' bytes and of how they are encoded; nothing is read for it."""
        parts = [self.content, self.encoder.to_json()]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
