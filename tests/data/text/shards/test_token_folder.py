"""Token files at an address: the batches of the same folder here, copies of bounded size."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import fsspec
import pytest
import torch

from netwright.core.errors import ConfigError, DataError, RunError
from netwright.data.files import remote_files
from netwright.data.files.remote_files import fetch, read_beginning
from netwright.data.files.shard import Shard
from netwright.data.fingerprint import fingerprint
from netwright.data.loading import remote_tokens
from netwright.data.loading.token_loader import TokenLoader
from netwright.data.loading.token_windows import TokenSplit
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.shards.index import INDEX, ShardIndex, write_index
from netwright.data.text.shards.source import ShardsConfig, load_shards
from netwright.data.text.shards.token_folder import holds_token_files
from netwright.recipes.plan.recipe import parse_recipe
from netwright.train.saving.conditions import find_changes
from tests.data.token_files import written_stream

WINDOW, FILES, TOKENS = 8, 12, 100  # tokens of a file: windows lie across their ends
WHOLE = 2 * TOKENS  # bytes of a file
LETTERS = "".join(map(chr, range(97, 117)))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))
    return tmp_path / "home/data/remote"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder of token files, and the same at memory://bucket/shards."""
    folder = tmp_path / "shards"
    folder.mkdir()
    tokenizer = CharTokenizer.fit([LETTERS])
    tokens = torch.randint(4, tokenizer.size, (FILES * TOKENS,), generator=torch.Generator())
    cuts = range(TOKENS, FILES * TOKENS, TOKENS)
    stream = written_stream(folder, tokens.tolist(), *cuts, vocab_size=tokenizer.size)
    write_index(folder, ShardIndex("uint16", tokenizer.size, {"train": stream.files}), tokenizer)
    system = fsspec.filesystem("memory")
    for file in folder.iterdir():
        system.pipe(f"/bucket/shards/{file.name}", file.read_bytes())
    yield folder
    system.store.clear()


ADDRESS = "memory://bucket/shards"


def train_of(path: str, **settings: Any) -> TokenSplit:
    split = load_shards(ShardsConfig(path=path, window=WINDOW, **settings)).train
    assert isinstance(split, TokenSplit)
    return split


def read(split: TokenSplit, **settings: Any) -> tuple[torch.Tensor, torch.Tensor]:
    batches = list(TokenLoader(split, 16, seed=1, **settings).epoch(0))
    return torch.cat([one.inputs for one in batches]), torch.cat([one.rows for one in batches])


def test_an_address_gives_what_a_folder_gives(folder: Path) -> None:
    here, there = (
        load_shards(ShardsConfig(path=str(folder))),
        load_shards(ShardsConfig(path=f"{ADDRESS}/")),
    )
    assert (there.name, there.notes) == (here.name, here.notes)
    assert train_of(ADDRESS).windows.fingerprint() == train_of(str(folder)).windows.fingerprint()
    for mine, theirs in zip(read(train_of(ADDRESS)), read(train_of(str(folder))), strict=True):
        assert torch.equal(mine, theirs)  # where all copies find room, in the same order


@pytest.mark.parametrize("workers", [0, 2])
def test_in_little_room_each_window_comes_once_and_each_file_is_copied_once(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    room = 6 * WHOLE
    split = train_of(ADDRESS, cache_gb=room / 1e9)
    assert split.windows.pieces is not None
    for file in cache.iterdir():
        file.unlink()
    split.windows.stream._files.open.clear()
    copied: list[str] = []
    begun: list[str] = []

    def noted(shard: Shard, path: Path) -> None:
        copied.append(shard.name)
        fetch(shard, path)

    def noted_beginning(shard: Shard, size: int) -> bytes:
        begun.append(shard.name)
        return read_beginning(shard, size)

    monkeypatch.setattr(remote_files, "fetch", noted)
    monkeypatch.setattr(remote_tokens, "read_beginning", noted_beginning)
    inputs, rows = read(split, workers=workers)
    assert torch.equal(rows.sort().values, torch.arange(split.total))
    assert torch.equal(inputs, train_of(str(folder)).windows.read(rows)[0])
    assert len(set(copied)) == FILES
    copies = [file for file in cache.iterdir() if not file.suffix]
    assert 1 <= len(copies) <= 6
    if not workers:  # sets of files follow each other: a file is fetched once an epoch
        assert len(copied) == FILES
    assert len(begun) == FILES - 1  # a window has a token more
    order = [split.order(torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)]
    assert torch.equal(order[0], order[1]) and not torch.equal(order[0], order[2])


def test_what_is_shown_is_of_files_that_find_room(folder: Path, cache: Path) -> None:
    split = train_of(ADDRESS, cache_gb=6 * WHOLE / 1e9)
    assert len(split) == 25 and len(list(cache.glob("?" * 32))) == 2
    data = load_shards(ShardsConfig(path=ADDRESS, window=WINDOW, cache_gb=6 * WHOLE / 1e9))
    assert (
        "25 of the 149 training windows, evenly spaced in files that were copied" in data.notes[1]
    )


def test_another_order_is_another_fingerprint(folder: Path) -> None:
    prints = [
        {"train": fingerprint(train_of(ADDRESS, cache_gb=files * WHOLE / 1e9))}
        for files in (6, 9, 36, 72)
    ]
    assert prints[2] == prints[3] == {"train": fingerprint(train_of(str(folder)))}
    for first, second in pairwise(prints[:3]):
        (change,) = find_changes({"data": first}, {"data": second}).values()
        assert change == (
            "the train split goes through its files in a different order: keep data.cache_gb as it "
            "was"
        )


def test_it_is_found_by_what_lies_there(folder: Path) -> None:
    assert holds_token_files(ADDRESS) and not holds_token_files("memory://bucket/nothing")
    assert not holds_token_files("memory://bucket")  # what lies in a folder of it is another corpus
    with pytest.raises(DataError, match=r"memory://bucket has no index\.json"):
        train_of("memory://bucket")
    recipe = parse_recipe({"model": "gpt", "data": ADDRESS})
    assert recipe.data == "token-shards" and recipe.to_mapping()["data"]["path"] == ADDRESS


def test_what_is_not_there_or_has_changed_is_refused(folder: Path) -> None:
    system = fsspec.filesystem("memory")
    with pytest.raises(DataError, match=r"memory://bucket/no has no index\.json: copy there what"):
        train_of("memory://bucket/no")
    with pytest.raises(ConfigError, match="holds a user name or a password"):
        ShardsConfig(path="s3://ann:S3cret@bucket/x")
    split = train_of(ADDRESS, cache_gb=6 * WHOLE / 1e9)
    last = f"/bucket/shards/train-{FILES - 1:05}.bin"
    content = system.cat(last)
    system.pipe(last, b"\0" * WHOLE)
    with pytest.raises(RunError, match=rf"{last} has changed since"):
        read(split)
    system.pipe(last, content[:-2])
    with pytest.raises(DataError, match=rf"{ADDRESS}/train-.* has {WHOLE - 2} bytes, its index"):
        train_of(ADDRESS)
    system.rm(last)
    with pytest.raises(DataError, match=rf"{ADDRESS} has no train-00011\.bin, which its index"):
        train_of(ADDRESS)
    system.pipe(f"/bucket/shards/{INDEX}", b"[]")
    with pytest.raises(DataError, match=rf"{ADDRESS}/{INDEX} is not an index of token files"):
        train_of(ADDRESS)
