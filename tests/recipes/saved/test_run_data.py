"""The data of a saved run: the same, changed since, or of a run from before."""

from pathlib import Path

import pytest

import netwright as nw
from netwright.core.errors import DataError
from netwright.data.tables.encoding import TableEncoder


def test_data_that_changed_since_training_is_refused(table_file: Path, tmp_path: Path) -> None:
    table = tmp_path / "things.csv"
    table.write_text(table_file.read_text())
    run = nw.fit("logistic", table, target="kind", epochs=1, out=tmp_path / "run", quiet=True)
    table.write_text(table_file.read_text() + "9.9,green,big\n" * 5)
    with pytest.raises(DataError, match=r"^things.csv has changed since the run was trained on it"):
        nw.open_run(tmp_path / "run").evaluate()
    assert run.evaluate(table)["accuracy"] >= 0


def test_a_run_from_before_ranges_were_kept_knows_its_data(table_run: nw.Run) -> None:
    assert table_run.folder is not None
    older = nw.open_run(table_run.folder)
    values = older.preprocessor.to_json()
    del values["dialect"]
    for feature in values["features"]:
        for name in ("low", "high") if "scaling" in feature else ():
            del feature["scaling"][name]
    older.preprocessor = TableEncoder.from_json(values)
    assert older.evaluate() == table_run.evaluate()
