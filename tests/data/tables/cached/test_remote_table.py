"""A table at an address: the rows of the same file here, copied once, and anew where it changed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pandas as pd
import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.data.tables.cached.remote_table import local_table
from netwright.data.tables.reading import read_table
from netwright.data.tables.table import TableConfig
from netwright.data.tables.table_file import load_table
from netwright.data.text.text_rows import read_text_rows

FRAME = pd.DataFrame({"x": [place / 7 for place in range(40)], "y": ["a", "b"] * 20})


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))
    system = fsspec.filesystem("memory")
    system.pipe("/bucket/one.csv", FRAME.to_csv(index=False).encode())
    for number, rows in enumerate((FRAME[:15], FRAME[15:])):
        system.pipe(f"/bucket/prices/{number}.parquet", rows.to_parquet(index=False))
    yield system
    system.store.clear()


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("memory://bucket/one.csv", "one.csv"),
        ("memory://bucket/prices", "prices"),
        ("memory://bucket/prices/", "prices"),
        ("memory://bucket/prices/*.parquet", "prices"),
    ],
)
def test_an_address_gives_the_rows_of_the_same_file(address: str, name: str) -> None:
    table = read_table(address)
    assert table.name == name and [float(x) for x in table.column("x")] == pytest.approx(FRAME["x"])
    data = load_table(TableConfig(path=address, target=("y",)))
    again = load_table(TableConfig(path=address, target=("y",), in_memory_gb=1e-9))  # in parts
    assert data.name == again.name == name
    assert torch.equal(data.train.targets, again.train.targets)
    assert torch.equal(data.train.read(torch.arange(28)), again.train.read(torch.arange(28)))


def test_a_table_is_copied_once_and_again_when_it_changes(store: Any) -> None:
    place = local_table("memory://bucket/one.csv")
    place.write_bytes(b"x,y\n1,2\n")  # the copy is what is read
    assert local_table("memory://bucket/one.csv") == place
    assert len(read_table("memory://bucket/one.csv")) == 1
    store.pipe("/bucket/one.csv", b"x,y\n1,2\n3,4\n")
    assert len(read_table("memory://bucket/one.csv")) == 2


def test_the_same_files_by_another_address_are_found(store: Any) -> None:
    for folder in ("prices/more", ".."):
        for number in range(2):
            store.pipe(f"/lake/{folder}/{number}.parquet", FRAME.to_parquet(index=False))
    for address, name in (
        ("memory://lake/prices/more", "more"),
        ("memory://lake/prices", "prices"),
        ("memory://lake/pri*/*/*.parquet", "lake"),
        ("memory://lake/../*.parquet", "lake"),
    ):
        place = local_table(address)
        assert place.name == name and len(list(place.iterdir())) == 2


def test_a_run_on_an_address_keeps_it_and_is_evaluated(tmp_path: Path) -> None:
    run = nw.fit("mlp", "memory://bucket/one.csv", target="y", epochs=1, out=tmp_path / "run")
    assert run.config["data"]["path"] == "memory://bucket/one.csv"
    assert nw.open_run(tmp_path / "run").evaluate()


def test_tables_of_texts_come_from_addresses_too(store: Any) -> None:
    store.pipe("/bucket/texts.tsv", b'text\tlabel\n"quoted\ta\nplain\tb\n')
    assert list(read_text_rows("memory://bucket/texts.tsv").column("text")) == ['"quoted', "plain"]


def test_what_cannot_be_copied_is_refused(store: Any) -> None:
    with pytest.raises(DataError, match=r"memory://bucket/no\.csv: there is no such file"):
        local_table("memory://bucket/no.csv")
    with pytest.raises(DataError, match=r"memory://bucket/no holds no table, wanted \.csv"):
        local_table("memory://bucket/no")
    with pytest.raises(DataError, match=r"memory://bucket holds 3 files, wanted one, or"):
        local_table("memory://bucket")
    with pytest.raises(ConfigError, match=r"more than data\.cache_gb=1e-09 in which tables"):
        local_table("memory://bucket/prices", 1e-9)
    store.pipe("/bucket/prices/more/0.parquet", b"")
    with pytest.raises(DataError, match=r"memory://bucket/prices holds 0\.parquet in two folders"):
        local_table("memory://bucket/prices")
