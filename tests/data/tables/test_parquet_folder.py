"""A folder of parquet files as one table: that of one file, in memory and in parts."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import netwright as nw
from netwright.core.errors import DataError
from netwright.data.loading.stored import StoredSplit
from netwright.data.tables.parquet_folder import is_parquet_folder, parquet_files
from netwright.recipes.plan.recipe import data_section


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))


@pytest.fixture
def frame() -> pd.DataFrame:
    random = np.random.default_rng(0)
    values: Any = {"x": random.normal(size=60), "kind": list("abc") * 20, "y": [0, 1] * 30}
    return pd.DataFrame(values)


def divided(frame: pd.DataFrame, folder: Path) -> Path:
    folder.mkdir()
    for number, rows in enumerate((slice(0, 13), slice(13, 50), slice(50, 60))):
        frame.iloc[rows].to_parquet(folder / f"part-{number}.parquet")
    return folder


@pytest.mark.parametrize("in_memory_gb", [2.0, 1e-9])
def test_it_is_the_table_of_one_file(
    tmp_path: Path, frame: pd.DataFrame, in_memory_gb: float
) -> None:
    folder = divided(frame, tmp_path / "parts")
    frame.to_parquet(tmp_path / "whole.parquet")
    told: Any = {"target": ("y",), "in_memory_gb": in_memory_gb}
    ours = nw.data.load("table", path=str(folder), **told)
    theirs = nw.data.load("table", path=str(tmp_path / "whole.parquet"), **told)
    assert ours.spec == theirs.spec and isinstance(ours.train, StoredSplit) == (in_memory_gb < 1)
    for (_, one), (_, other) in zip(ours.splits(), theirs.splits(), strict=True):
        assert torch.equal(one.inputs, other.inputs) and torch.equal(one.targets, other.targets)


def test_what_was_converted_is_converted_again_where_a_file_changes(
    tmp_path: Path, frame: pd.DataFrame
) -> None:
    folder = divided(frame, tmp_path / "parts")
    told: Any = {"path": str(folder), "target": ("y",), "in_memory_gb": 1e-9}
    assert sum(len(one) for _, one in nw.data.load("table", **told).splits()) == 60
    frame.iloc[:30].to_parquet(folder / "part-3.parquet")
    assert sum(len(one) for _, one in nw.data.load("table", **told).splits()) == 90


def test_texts_and_their_labels_come_from_a_folder_too(tmp_path: Path) -> None:
    texts: Any = {"text": ["good film", "bad film"] * 20, "label": ["pos", "neg"] * 20}
    folder = tmp_path / "parts"
    folder.mkdir()
    pd.DataFrame(texts).iloc[:25].to_parquet(folder / "a.parquet")
    pd.DataFrame(texts).iloc[25:].to_parquet(folder / "b.parquet")
    section = data_section(str(folder), {"text", "target"})
    assert section["name"] == "text-table"
    data = nw.data.load("text-table", path=str(folder), text="text", target=("label",))
    assert data.spec.class_names == ("neg", "pos")
    assert sum(len(one) for _, one in data.splits()) == 40


def test_files_that_are_not_alike_or_not_whole_are_named(
    tmp_path: Path, frame: pd.DataFrame
) -> None:
    folder = divided(frame, tmp_path / "parts")
    frame.drop(columns="kind").to_parquet(folder / "part-1.parquet")
    with pytest.raises(DataError, match=r"part-1\.parquet has the columns x, y, part-0\.parquet"):
        parquet_files(folder)
    frame.assign(x="text").to_parquet(folder / "part-1.parquet")
    with pytest.raises(DataError, match=r"part-1\.parquet has other values .* in column 'x', part"):
        parquet_files(folder)
    content = (folder / "part-0.parquet").read_bytes()
    (folder / "part-1.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"part-1\.parquet: not a readable parquet file"):
        nw.data.load("table", path=str(folder), target=("y",))
    (folder / "part-1.parquet").unlink()
    (folder / "part-1.parquet").symlink_to(folder / "part-0.parquet")
    with pytest.raises(DataError, match="symbolic link"):
        parquet_files(folder)


def test_a_folder_is_known_by_its_files(tmp_path: Path, frame: pd.DataFrame) -> None:
    assert not is_parquet_folder(tmp_path) and not is_parquet_folder(tmp_path / "none")
    folder = divided(frame, tmp_path / "parts")
    assert data_section(str(folder)) == {"name": "table", "path": str(folder)}
    run = nw.fit("mlp", str(folder), target="y", epochs=1, device="cpu", save=False, quiet=True)
    assert run.results["metrics"]
