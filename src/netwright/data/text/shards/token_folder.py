"""A folder of token files that was opened: here, or at an address.

Of an address the index and the tokenizer are read where they lie; token files are copied when they
are read (`loading/remote_tokens.py`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from netwright.core.errors import DataError
from netwright.core.files.json_text import parse_json
from netwright.core.limits import RECORD
from netwright.data.files.addresses import is_address, system_of
from netwright.data.files.file_names import shown
from netwright.data.files.locations import made_cache
from netwright.data.files.remote_files import RemoteFiles, list_remote, read_beginning
from netwright.data.files.shard import Shard
from netwright.data.loading.remote_tokens import RemoteTokens
from netwright.data.loading.token_files import TokenStream
from netwright.data.text.shards.index import (
    INDEX,
    VOCABULARY,
    ShardIndex,
    parse_index,
    parse_vocabulary,
    read_index,
    read_vocabulary,
)
from netwright.data.text.tokenizer import Tokenizer

BIN = ".bin"


@dataclass(frozen=True)
class TokenFolder:
    """What a folder of token files holds.

    Args:
        name: of the folder.
        index: which files are which part.
        tokenizer: of the tokens.
        stream: train, val or test -> its tokens.
    """

    name: str
    index: ShardIndex
    tokenizer: Tokenizer
    stream: Callable[[str], TokenStream]


def open_token_folder(path: str, cache_gb: float) -> TokenFolder:
    """The folder at a path or an address.

    Args:
        path: of the folder.
        cache_gb: GB of the copies of files that lie elsewhere.
    """
    if is_address(path):
        return _open_remote(path.rstrip("/"), cache_gb)
    folder = Path(path).expanduser()
    index = read_index(folder)
    name = folder.resolve().name
    return TokenFolder(name, index, read_vocabulary(folder), partial(index.stream, folder))


def holds_token_files(path: str | Path) -> bool:
    """Whether this is a folder of token files with their index."""
    if is_address(str(path)):
        return {INDEX, VOCABULARY} <= _files_at(str(path).rstrip("/")).keys()
    return (Path(path) / INDEX).is_file() and (Path(path) / VOCABULARY).is_file()


def _open_remote(address: str, cache_gb: float) -> TokenFolder:
    shards = _files_at(address)
    for name in (INDEX, VOCABULARY):
        if name not in shards:
            raise DataError(
                f"{shown(address)} has no {name}: copy there what netwright prepare wrote"
            )
    index = parse_index(_json(shards[INDEX]), shown(address))
    copies = RemoteFiles(made_cache("remote", "token files are copied to"), int(cache_gb * 1e9))

    def stream(part: str) -> TokenStream:
        files = index.parts[part]
        for file in files:
            if file.name not in shards:
                raise DataError(f"{shown(address)} has no {file.name}, which its {INDEX} lists")
        remote = RemoteTokens({file.name: shards[file.name] for file in files}, copies)
        return TokenStream(shown(address), files, index.dtype, index.vocab_size, remote=remote)

    tokenizer = parse_vocabulary(_json(shards[VOCABULARY]), shown(address))
    return TokenFolder(shown(address).rpartition("/")[2], index, tokenizer, stream)


def _files_at(address: str) -> Mapping[str, Shard]:
    """Name -> the file, of those right below an address that belong to token files."""
    shards, _ = list_remote(address, _is_wanted)
    system, place = system_of(address)
    placed = [(*shard.address.rpartition("/"), shard) for shard in shards]
    above = system.unstrip_protocol(place).rstrip("/")  # as shards are listed
    return {name: shard for folder, _, name, shard in placed if folder == above}


def _is_wanted(place: str) -> bool:
    name = place.rpartition("/")[2]
    return name in {INDEX, VOCABULARY} or name.endswith(BIN)


def _json(shard: Shard) -> Any:
    RECORD.check(shard.name, shard.size / 1e6)
    return parse_json(read_beginning(shard, shard.size), shard.name)
