"""Encoded rows in a folder."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from netwright.core.errors import DataError
from netwright.core.files.inside import new_name
from netwright.core.files.storage import new_folder
from netwright.data.npy import map_npy
from netwright.data.tables.large.stored_table import (
    EncodedFile,
    EncodedRows,
    read_stored_table,
    write_table,
)
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.table import TableConfig, divide_rows, fit_encoder
from tests.repetition import for_each


def test_rows_are_written_as_numpy_writes_them(tmp_path: Path) -> None:
    parts = [torch.arange(12.0).reshape(4, 3), torch.ones(2, 3)]
    content = EncodedRows(parts, (6, 3))
    written = b"".join(bytes(piece) for piece in content)
    assert len(written) == len(content)
    np.save(tmp_path / "wanted.npy", torch.cat(parts).numpy())
    assert written == (tmp_path / "wanted.npy").read_bytes()


def test_a_batch_is_copied_out_of_the_file(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", np.arange(12, dtype=np.float32).reshape(4, 3))
    stored = EncodedFile(map_npy(tmp_path / "rows.npy"), "its sum")
    assert (len(stored), stored.shape, stored.fingerprint()) == (4, (3,), "its sum")
    batch = stored.read(torch.tensor([3, 0]))
    batch += 1  # the file stays as it is
    assert stored.read(torch.tensor([3, 0])).tolist() == [[9, 10, 11], [0, 1, 2]]


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    cells = {"x": [str(row) for row in range(20)], "y": ["no", "yes"] * 10}
    table = RawTable(name="t.csv", columns=cells, positions=range(20))
    config = TableConfig(target=("y",))
    rows = divide_rows(table, config)
    encoder = fit_encoder(table, rows.division["train"].numpy(), rows, config)
    with new_folder(tmp_path / "stored") as staging:
        write_table(staging, EncodedRows([encoder.encode(table)], (20, 1)), rows, encoder, ())
    assert len(read_stored_table(tmp_path / "stored").train) == 14
    return tmp_path / "stored"


def _written(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content)


def _saved(*shape: int) -> Callable[[Path], object]:
    return lambda folder: np.save(folder / "inputs.npy", np.zeros(shape, np.float32))


def _cut(name: str) -> Callable[[Path], object]:
    return lambda folder: os.truncate(folder / name, (folder / name).stat().st_size - 8)


def _removed(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


def _without(name: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        about = json.loads((folder / "table.json").read_text())
        (folder / "table.json").write_text(json.dumps({**about, name: None}))

    return change


NAMES = ("inputs.npy", "rows.safetensors", "table.json")


@for_each(
    "damage",
    [
        *(_removed(name) for name in NAMES),
        *(_cut(name) for name in NAMES),
        *(_written("table.json", content) for content in (b"{}", b"[]", b"null", b"")),
        *(_without(name) for name in ("encoder", "notes")),
        _saved(19, 1),
        _saved(20, 2),
    ],
)
def test_a_damaged_folder_is_named_with_the_way_out(
    stored: Path, damage: Callable[[Path], object]
) -> None:
    copy = stored.with_name(new_name("copy", ""))
    shutil.copytree(stored, copy)
    damage(copy)
    said = f"{copy} is damaged: remove it, and the table is converted again"
    with pytest.raises(DataError, match=f"^{re.escape(said)}$"):
        read_stored_table(copy)
