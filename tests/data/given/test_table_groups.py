"""Groups of a table: a column by its name, or one beside it."""

import pytest

from netwright.core.errors import ConfigError
from netwright.data.given.table_groups import with_groups
from netwright.data.tables.frames import rows_table
from netwright.data.tables.table import TableConfig

TABLE = rows_table([{"x": 1, "group": "a"}, {"x": 2, "group": "b"}])
CONFIG = TableConfig(target=("x",))


def test_a_column_by_its_name_or_beside_the_table() -> None:
    assert with_groups(TABLE, CONFIG, None) == (TABLE, CONFIG)
    same, named = with_groups(TABLE, CONFIG, "group")
    assert (same, named.group_column) == (TABLE, "group")
    wider, beside = with_groups(TABLE, CONFIG, [7, 7])
    assert beside.group_column == "group_"
    assert wider.columns["group_"] == ["7", "7"]


def test_refuses_two_answers() -> None:
    with pytest.raises(ConfigError, match="group_column is set and groups are given"):
        with_groups(TABLE, TableConfig(group_column="group"), [1, 2])
