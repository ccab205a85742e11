"""Files of tables: in memory up to a size, from disk beyond it."""

from pathlib import Path

import pytest

from netwright.core.errors import ConfigError
from netwright.data.loading.stored import StoredSplit
from netwright.data.tables.table import TableConfig
from netwright.data.tables.table_file import SOURCE, load_table


def test_source_row_loads_tables() -> None:
    assert (SOURCE.config, SOURCE.load) == (TableConfig, load_table)


def test_path_is_needed() -> None:
    with pytest.raises(ConfigError, match=r"^path is empty, wanted the path of a \.csv, \.tsv or"):
        load_table(TableConfig(target=("y",)))


def test_a_file_stays_on_disk_from_its_size_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{row},{'yes' if row % 2 else 'no'}\n" for row in range(99)))
    size = path.stat().st_size / 1e9

    def train(limit: float) -> object:
        return load_table(TableConfig(path=str(path), target=("y",), in_memory_gb=limit)).train

    assert not isinstance(train(size), StoredSplit)
    assert isinstance(train(size / 2), StoredSplit)
