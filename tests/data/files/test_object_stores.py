"""Data at s3:// and gs://, by real clients and servers of these protocols: as the files here."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

import netwright as nw
from netwright.core.errors import DataError
from netwright.data.files.remote_files import fetch, list_remote
from netwright.data.loading.token_windows import TokenSplit
from netwright.data.loading.worker_loader import build_loader
from netwright.data.shards.source import ImageShardsConfig, load_image_shards
from netwright.data.tables.table import TableConfig
from netwright.data.tables.table_file import load_table
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.shards.index import ShardIndex, write_index
from netwright.data.text.shards.source import ShardsConfig, load_shards
from netwright.recipes.plan.recipe import data_section
from tests.data.files.object_stores import gs_server, s3_server
from tests.data.shards.written_shards import write_parquet, write_tar
from tests.data.token_files import written_stream

pytestmark = pytest.mark.slow


@pytest.fixture
def s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))
    (tmp_path / "data").mkdir()
    with s3_server(monkeypatch) as system:
        yield system


def put(s3: Any, folder: Path) -> None:
    """Bring the files of a folder to s3://bucket/data."""
    for file in folder.iterdir():
        s3.pipe(f"bucket/data/{file.name}", file.read_bytes())


@pytest.mark.parametrize("write", [write_tar, write_parquet])
@pytest.mark.parametrize("workers", [0, 2])
def test_images_are_those_of_a_folder_and_come_once_an_epoch(
    s3: Any, tmp_path: Path, write: Any, workers: int
) -> None:
    ending = "tar" if write is write_tar else "parquet"
    for number in range(3):
        write(tmp_path / f"data/{number}.{ending}", range(20 * number, 20 * number + 20))
    put(s3, tmp_path / "data")
    assert data_section("s3://bucket/data")["name"] == "image-shards"
    config = ImageShardsConfig(path=str(tmp_path / "data"), val_size=0, test_size=0)
    here = load_image_shards(config).train
    for path in ("s3://bucket/data", f"s3://bucket/data/*.{ending}"):
        there = load_image_shards(replace(config, path=path)).train
        loader = build_loader(there, 8, workers=workers)
        batches = list(loader.epoch(0))
        loader.close()
        for batch in batches:
            assert torch.equal(batch.inputs, here.read(batch.rows))
        assert Counter(torch.cat([one.rows for one in batches]).tolist()) == Counter(range(60))


def test_tokens_come_in_the_order_of_a_folder_and_once_in_little_room(
    s3: Any, tmp_path: Path
) -> None:
    tokenizer = CharTokenizer.fit(["abcdefgh"])
    tokens = [4 + place * place % 8 for place in range(1000)]
    stream = written_stream(tmp_path / "data", tokens, 250, 500, 750, vocab_size=tokenizer.size)
    parts = {"train": stream.files}
    write_index(tmp_path / "data", ShardIndex("uint16", tokenizer.size, parts), tokenizer)
    put(s3, tmp_path / "data")
    assert data_section("s3://bucket/data")["name"] == "token-shards"
    here = load_shards(ShardsConfig(path=str(tmp_path / "data"), window=9)).train
    there = load_shards(ShardsConfig(path="s3://bucket/data", window=9)).train
    for mine, theirs in zip(*(build_loader(one, 7).epoch(0) for one in (here, there)), strict=True):
        assert torch.equal(mine.inputs, theirs.inputs) and torch.equal(mine.rows, theirs.rows)
    little = load_shards(ShardsConfig(path="s3://bucket/data", window=9, cache_gb=1500e-9)).train
    read = list(build_loader(little, 7).epoch(0))
    assert torch.cat([one.rows for one in read]).sort().values.tolist() == list(range(111))
    assert isinstance(here, TokenSplit)
    inputs, _ = here.windows.read(torch.cat([one.rows for one in read]))
    assert torch.equal(torch.cat([one.inputs for one in read]), inputs)


def test_a_table_trains_as_the_same_file_here(s3: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [place / 7 for place in range(60)], "y": ["a", "b"] * 30})
    frame[:25].to_parquet(tmp_path / "data/0.parquet", index=False)
    frame[25:].to_parquet(tmp_path / "data/1.parquet", index=False)
    s3.pipe("bucket/one.csv", frame.to_csv(index=False).encode())
    put(s3, tmp_path / "data")
    here = load_table(TableConfig(path=str(tmp_path / "data"), target=("y",)))
    for address in ("s3://bucket/data", "s3://bucket/data/*.parquet", "s3://bucket/one.csv"):
        assert data_section(address)["name"] == "table"
        there = load_table(TableConfig(path=address, target=("y",)))
        assert torch.allclose(there.train.inputs, here.train.inputs)
        assert torch.equal(there.train.targets, here.train.targets)
    run = nw.fit(
        "mlp", "s3://bucket/one.csv", target="y", epochs=1, out=tmp_path / "run", quiet=True
    )
    assert nw.open_run(tmp_path / "run").evaluate() == run.evaluate()


def test_what_is_gone_changed_or_refused_is_told_in_a_sentence(s3: Any, tmp_path: Path) -> None:
    for address in ("s3://bucket/no.csv", "s3://nobody/no.csv"):
        with pytest.raises(DataError, match=rf"{address}: there is no such file or folder"):
            load_table(TableConfig(path=address, target=("y",)))
    s3.pipe("bucket/data/one.csv", b"x,y\n1,2\n")
    (listed,), _ = list_remote("s3://bucket/data", lambda name: True)  # which the client keeps
    s3.pipe("bucket/data/one.csv", b"x,y\n3,4\n")
    with pytest.raises(
        DataError, match=r"s3://bucket/data/one\.csv has changed since it was listed"
    ):
        fetch(listed, tmp_path / "one.csv")


def test_google_s_storage_gives_what_a_folder_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))
    shard = write_tar(tmp_path / "0.tar", range(30))
    table = b"x,y\n" + b"".join(b"%d,%d\n" % (place, place % 2) for place in range(50))
    (tmp_path / "one.csv").write_bytes(table)
    with gs_server(monkeypatch) as gs:
        gs.pipe("bucket/images/0.tar", shard.read_bytes())
        gs.pipe("bucket/one.csv", table)
        assert data_section("gs://bucket/images")["name"] == "image-shards"
        images = load_image_shards(ImageShardsConfig(path="gs://bucket/images")).train
        rows = load_table(TableConfig(path="gs://bucket/one.csv", target=("y",))).train
        here = load_image_shards(ImageShardsConfig(path=str(shard))).train
        places = torch.arange(len(here))
        assert torch.equal(images.read(places), here.read(places))
    same = load_table(TableConfig(path=str(tmp_path / "one.csv"), target=("y",))).train
    assert torch.equal(rows.inputs, same.inputs) and torch.equal(rows.targets, same.targets)
