"""Token files elsewhere: how many are at hand at once, and what is read without a copy."""

import os
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from netwright.core.errors import DataError
from netwright.data.files.remote_files import RemoteFiles, list_remote
from netwright.data.loading.remote_tokens import RemoteTokens


@pytest.fixture
def tokens(tmp_path: Path) -> Iterator[RemoteTokens]:
    """Two files of 60 bytes, and room for 300."""
    system = fsspec.filesystem("memory")
    for name in "ab":
        system.pipe(f"/tokens/{name}.bin", name.encode() * 60)
    shards, _ = list_remote("memory://tokens", lambda name: True)
    named = {shard.address.rpartition("/")[2]: shard for shard in shards}
    yield RemoteTokens(named, RemoteFiles(tmp_path, 300))
    system.store.clear()


def test_a_third_of_the_room_is_at_hand_where_not_all_files_find_it(
    tokens: RemoteTokens, tmp_path: Path
) -> None:
    assert tokens.held == 100
    assert RemoteTokens(tokens.shards, RemoteFiles(tmp_path, 360)).held == 0


def test_a_beginning_is_read_without_a_copy(tokens: RemoteTokens, tmp_path: Path) -> None:
    assert tokens.beginning("b.bin", 3) == b"bbb" and tokens.size("b.bin") == 60
    assert not list(tmp_path.iterdir())
    handle = tokens.open("b.bin")
    assert os.pread(handle, 99, 0) == b"b" * 60
    os.close(handle)
    with pytest.raises(DataError, match=r"b\.bin was copied with 60 of 61 bytes"):
        tokens.beginning("b.bin", 61)
