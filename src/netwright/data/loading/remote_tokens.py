"""Token files that lie elsewhere: copied as a whole when a window begins in them.

A window that begins in one file and ends in the next asks for the beginning of that one alone: to
copy it for a few tokens would fetch each file twice an epoch.
"""

from collections.abc import Mapping

from netwright.data.files.remote_files import RemoteFiles, read_beginning
from netwright.data.files.shard import Shard

SETS = 3  # of files that copies have room for: one is read, one read ahead, one let go of


class RemoteTokens:
    """The token files at an address.

    Args:
        shards: name -> the file as it was listed.
        copies: where they are copied to.
    """

    def __init__(self, shards: Mapping[str, Shard], copies: RemoteFiles) -> None:
        self.shards, self.copies = shards, copies
        whole = sum(shard.size for shard in shards.values())
        # Bytes of files that are at hand at once; 0: all of them.
        self.held = copies.most // SETS if whole > copies.most // SETS else 0

    def size(self, name: str) -> int:
        """The bytes of a file; nothing is copied."""
        return self.shards[name].size

    def open(self, name: str) -> int:
        """A descriptor of the copy of a file."""
        return self.copies.open(self.shards[name])

    def beginning(self, name: str, size: int) -> bytes:
        """The first bytes of a file, which is not copied for them."""
        return read_beginning(self.shards[name], size)
