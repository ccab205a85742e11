"""The index of token files: there and back, and nothing that leads out of its folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import DataError
from netwright.data.loading.token_files import TokenFile
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.shards.index import (
    INDEX,
    VOCABULARY,
    ShardIndex,
    dtype_for,
    read_index,
    read_vocabulary,
    write_index,
)
from netwright.data.text.shards.token_folder import holds_token_files

FILE = TokenFile("train-00000.bin", 3, "0" * 64)


def test_an_index_is_read_as_it_was_written(tmp_path: Path) -> None:
    tokenizer = CharTokenizer.fit(["abc"])
    index = ShardIndex("uint16", 7, {"train": (FILE,)})
    assert not holds_token_files(tmp_path)
    write_index(tmp_path, index, tokenizer)
    assert holds_token_files(tmp_path)
    assert (read_index(tmp_path), read_vocabulary(tmp_path)) == (index, tokenizer)


def test_a_token_has_two_bytes_while_they_suffice() -> None:
    assert [dtype_for(size) for size in (5, 65_536, 65_537)] == ["uint16", "uint16", "uint32"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"format": 2}, "has format 2, wanted 1"),
        ({"dtype": "int8"}, "must have dtype uint16 or uint32"),
        ({"dtype": ["uint16"]}, "must have dtype uint16 or uint32"),
        ({"vocab_size": True}, "a vocab_size, got 'uint16' and True"),
        ({"parts": {"val": [FILE._asdict()]}}, "must list files of train"),
        ({"parts": {"train": [FILE._asdict()], "more": []}}, "must list files of train"),
        ({"parts": {"train": [{**FILE._asdict(), "name": "../x.bin"}]}}, "is no token file"),
        ({"parts": {"train": [{**FILE._asdict(), "tokens": -1}]}}, "is no token file"),
        ({"parts": {"train": [{**FILE._asdict(), "tokens": 10**30}]}}, "is no token file"),
        ({"parts": {"train": [{**FILE._asdict(), "sha256": "0"}]}}, "is no token file"),
        ({"parts": {"train": [{"name": "x.bin"}]}}, "is not an index of token files"),
        ({"parts": []}, "is not an index of token files"),
    ],
)
def test_an_index_from_elsewhere_is_checked(
    tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    told = {**ShardIndex("uint16", 7, {"train": (FILE,)}).to_json(), **changed}
    (tmp_path / INDEX).write_text(json.dumps(told))
    with pytest.raises(DataError, match=said):
        read_index(tmp_path)


def test_a_folder_without_index_or_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has no index.json: make it with netwright prepare"):
        read_index(tmp_path)
    (tmp_path / VOCABULARY).write_text("{}")
    with pytest.raises(DataError, match=r"vocabulary.json is not a tokenizer"):
        read_vocabulary(tmp_path)
    (tmp_path / INDEX).write_text("[]")
    with pytest.raises(DataError, match="is not an index of token files"):
        read_index(tmp_path)
