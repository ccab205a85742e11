"""A file of data as it was listed, here or elsewhere: address, size, a stamp of its content."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from netwright.data.files.file_names import shown

TAR, PARQUET = (".tar",), (".parquet", ".pq")
SAMPLES = (*TAR, *PARQUET)


class Shard(NamedTuple):
    """A file of samples.

    Args:
        address: a path, or an address with a scheme.
        size: bytes.
        stamp: another one where the file has changed.
    """

    address: str
    size: int
    stamp: str

    @property
    def name(self) -> str:
        """What refusals call it."""
        return shown(self.address)

    @property
    def is_tar(self) -> bool:
        """Whether it is a tar file, by its name."""
        return self.address.lower().endswith(TAR)


def is_shard(name: str, endings: Sequence[str] = SAMPLES) -> bool:
    """Whether a file is a shard, by its name; hidden ones are none."""
    return name.lower().endswith(tuple(endings)) and not os.path.basename(name).startswith(".")
