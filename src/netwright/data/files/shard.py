"""A file of data as it was listed: its address, its size, and a stamp that changes with it."""

from typing import NamedTuple

from netwright.data.files.file_names import shown

TAR = (".tar",)


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
