"""Shards by fsspec: the same data as from a folder, a cache that stays small, and refusals."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fsspec
import pytest
import torch

from netwright.core.errors import ConfigError, DataError, RunError
from netwright.core.files.process_lock import ProcessLock
from netwright.core.files.storage import PREFIX, SUFFIX
from netwright.data.files import remote_files
from netwright.data.files.remote_files import ROOM, RemoteFiles
from netwright.data.files.shard import Shard
from netwright.data.fingerprint import fingerprint
from netwright.data.loading.stored import StoredSplit
from netwright.data.loading.worker_loader import WorkerLoader, build_loader
from netwright.data.shards.shard_files import find_remote
from netwright.data.shards.source import ImageShardsConfig, load_image_shards
from netwright.recipes.plan.recipe import parse_recipe
from tests.data.shards.written_shards import write_tar


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))


@pytest.fixture
def store() -> Iterator[Any]:
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()


def put(store: Any, tmp_path: Path, shards: int = 4) -> Path:
    """The same shards in a folder and in memory://shards."""
    folder = tmp_path / "shards"
    folder.mkdir()
    for number in range(shards):
        path = write_tar(folder / f"{number}.tar", range(number * 20, number * 20 + 20))
        store.pipe(f"/shards/{number}.tar", path.read_bytes())
    return folder


def train_of(path: str, **settings: Any) -> StoredSplit:
    config = ImageShardsConfig(path=path, val_size=0, test_size=0, **settings)
    split = load_image_shards(config).train
    assert isinstance(split, StoredSplit)
    return split


def test_an_address_gives_what_a_folder_gives(store: Any, tmp_path: Path) -> None:
    folder = put(store, tmp_path)
    here = train_of(str(folder))
    rows = torch.arange(len(here))
    for address in ("memory://shards", "memory://shards/*.tar", "memory://shards/"):
        there = train_of(address)
        assert torch.equal(there.read(rows), here.read(rows))
        assert there.stored.fingerprint() == here.stored.fingerprint()
    assert len(train_of("memory://shards/2.tar")) == 20


def test_another_order_is_another_fingerprint(store: Any, tmp_path: Path) -> None:
    folder = put(store, tmp_path)
    size = (folder / "0.tar").stat().st_size

    def told(split: StoredSplit) -> tuple[dict[str, Any], list[int]]:
        return fingerprint(split), split.order(torch.Generator().manual_seed(0)).tolist()

    few, more, all_, plenty = (
        told(train_of("memory://shards", cache_gb=shards * size / 1e9)) for shards in (3, 6, 15, 99)
    )
    assert all_ == plenty == told(train_of(str(folder)))
    for first, second in ((few, more), (more, all_)):
        assert first[0] != second[0] and first[1] != second[1]


@pytest.mark.parametrize("workers", [0, 2])
def test_the_cache_stays_within_its_size_and_every_sample_comes_once(
    store: Any, tmp_path: Path, workers: int
) -> None:
    folder = put(store, tmp_path, shards=6)
    size = (folder / "0.tar").stat().st_size
    train = train_of("memory://shards", cache_gb=3.5 * size / 1e9)
    fetched: list[str] = []
    plain = store.open

    def noted(path: str, mode: str = "rb", **options: Any) -> Any:
        fetched.append(path)
        return plain(path, mode, **options)

    store.open = noted
    loader = build_loader(train, 8, workers=workers)
    assert isinstance(loader, WorkerLoader) and loader.patience > 1000  # to fetch takes time
    read = torch.cat([batch.rows for batch in loader.epoch(0)])
    loader.close()
    store.open = plain
    assert torch.equal(read.sort().values, torch.arange(120))
    copies = [file for file in (tmp_path / "home/data/remote").iterdir() if not file.suffix]
    assert 1 <= len(copies) <= 3 and sum(file.stat().st_size for file in copies) <= 3.5 * size
    if not workers:  # sets of files follow each other: a file is fetched at most once an epoch
        assert len(fetched) == len(set(fetched))
        held = train.stored.files._files.open.values()  # type: ignore[attr-defined]
        assert all(os.fstat(handle.number).st_nlink for handle in held)  # else it takes room


def test_what_a_killed_process_left_of_a_copy_is_removed(store: Any, tmp_path: Path) -> None:
    store.pipe("/shards/0.tar", b"content")
    store.pipe("/shards/1.tar", b"another")
    first, second = find_remote("memory://shards")
    remote = RemoteFiles(tmp_path, 1000)
    os.close(remote.open(first))
    (copy,) = (file for file in tmp_path.iterdir() if not file.suffix)
    left = tmp_path / f"{PREFIX}{copy.name}-1{SUFFIX}"
    left.write_bytes(b"con")
    os.close(remote.open(second))
    assert left.exists()  # it may be fetched by another process just now
    copy.unlink()
    handle = remote.open(first)
    assert os.pread(handle, 99, 0) == b"content" and not left.exists()
    os.close(handle)


def test_a_copy_that_is_removed_while_it_is_opened_is_read(
    store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.pipe("/shards/0.tar", b"content")
    (shard,) = find_remote("memory://shards")
    remote = RemoteFiles(tmp_path, 1000)
    os.close(remote.open(shard))
    opened, plain = [], os.open

    def removing(path: Path, flags: int, **options: Any) -> int:
        opened.append(plain(path, flags, **options))
        path.unlink()
        return opened[-1]

    monkeypatch.setattr(os, "open", removing)
    handle = remote.open(shard)
    assert opened == [handle] and os.pread(handle, 99, 0) == b"content"
    os.close(handle)


def test_a_file_of_a_web_server_is_not_asked_for_what_is_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = SimpleNamespace(
        info=lambda place: {"size": 4},
        checksum=lambda place: 1,
        unstrip_protocol=lambda place: place,
    )
    monkeypatch.setattr(remote_files, "system_of", lambda address: (system, address))
    ((shard,), _) = remote_files.list_remote("https://host/a.csv", lambda name: True)
    assert shard.address == "https://host/a.csv"


def fetched_copy(shard: Shard, path: Path) -> None:
    path.write_bytes(bytes(shard.size))


def test_what_is_reserved_stays_while_somebody_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever listed the folder before the copy was there would count neither."""
    counting, counted = ProcessLock(tmp_path / ROOM), threading.Event()

    def fetch(shard: Shard, path: Path) -> None:
        fetched_copy(shard, path)
        counting.__enter__()
        counted.set()

    monkeypatch.setattr(remote_files, "fetch", fetch)
    opening = threading.Thread(target=RemoteFiles(tmp_path, 9).open, args=(Shard("a", 5, ""),))
    opening.start()
    counted.wait()
    opening.join(0.2)  # which would be over by now
    reserved = [file.name for file in tmp_path.iterdir() if file.suffix == ".wanted"]
    counting.__exit__(None, None, None)
    opening.join()
    assert len(reserved) == 1
    assert not list(tmp_path.glob("*.wanted"))


def test_room_for_a_copy_that_takes_long_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_files, "fetch", fetched_copy)
    on_its_way = tmp_path / "old.wanted"
    on_its_way.write_bytes(bytes(5))
    os.utime(on_its_way, (1, 1))
    files = RemoteFiles(tmp_path, 15)
    for name in "abc":
        os.close(files.open(Shard(name, 5, "")))
    assert on_its_way.exists()
    assert len([file for file in tmp_path.iterdir() if not file.suffix]) == 2


def test_a_copy_that_failed_takes_no_room(store: Any, tmp_path: Path) -> None:
    for name in "ab":
        store.pipe(f"/shards/{name}.tar", b"four")
    first, second = find_remote("memory://shards")
    remote = RemoteFiles(tmp_path, 8)
    os.close(remote.open(first))
    store.pipe("/shards/b.tar", b"other")
    with pytest.raises(DataError, match="has changed since"):
        remote.open(second)
    assert [file.stat().st_size for file in tmp_path.iterdir() if file.stat().st_size] == [4]


def test_what_cannot_be_fetched_is_refused_in_a_sentence(store: Any, tmp_path: Path) -> None:
    put(store, tmp_path, shards=1)
    with pytest.raises(DataError, match=r"memory://nothing holds no \.tar and no \.parquet file"):
        find_remote("memory://nothing")
    with pytest.raises(DataError, match=r"memory://no\.tar: there is no such file or folder"):
        find_remote("memory://no.tar")
    with pytest.raises(ConfigError, match=r"0\.tar has .* GB, more than data\.cache_gb=1e-06"):
        train_of("memory://shards", cache_gb=1e-6)


def test_a_shard_that_changed_elsewhere_is_named(store: Any, tmp_path: Path) -> None:
    put(store, tmp_path, shards=1)
    train = train_of("memory://shards")
    for file in (tmp_path / "home/data/remote").iterdir():
        file.unlink()
    train.stored.files._files.open.clear()  # type: ignore[attr-defined]
    store.pipe("/shards/0.tar", store.cat("/shards/0.tar") + b"\0")
    with pytest.raises(RunError, match=r"memory:///shards/0\.tar has changed since"):
        next(iter(build_loader(train, 8).epoch(0)))


def test_a_recipe_keeps_an_address_as_it_is(store: Any, tmp_path: Path) -> None:
    recipe = parse_recipe({"model": "mlp", "data": "memory://shards"})
    assert recipe.to_mapping()["data"]["path"] == "memory://shards"
