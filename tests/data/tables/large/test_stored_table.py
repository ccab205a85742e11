"""Encoded rows in a folder."""

from pathlib import Path

import numpy as np
import pytest
import torch

from netwright.core.errors import DataError
from netwright.core.files.storage import new_folder
from netwright.data.files.npy import map_npy
from netwright.data.tables.large.stored_table import (
    EncodedFile,
    EncodedRows,
    read_stored_table,
    write_table,
)
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.table import TableConfig, divide_rows, fit_encoder


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


def test_rows_that_are_not_all_there_are_refused(tmp_path: Path) -> None:
    cells = {"x": [str(row) for row in range(20)], "y": ["no", "yes"] * 10}
    table = RawTable(name="t.csv", columns=cells, positions=range(20))
    config = TableConfig(target=("y",))
    rows = divide_rows(table, config)
    encoder = fit_encoder(table, rows.division["train"].numpy(), rows, config)
    with new_folder(tmp_path / "stored") as staging:
        write_table(staging, EncodedRows([encoder.encode(table)], (20, 1)), rows, encoder, ())
    assert len(read_stored_table(tmp_path / "stored").train) == 14
    np.save(tmp_path / "stored" / "inputs.npy", np.zeros((19, 1), np.float32))
    with pytest.raises(DataError, match="damaged: remove it"):
        read_stored_table(tmp_path / "stored")
