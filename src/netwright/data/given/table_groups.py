"""Groups that are given beside a table: the name of a column, or a column of their own."""

from dataclasses import replace
from typing import Any, TypeVar

from netwright.core.errors import ConfigError
from netwright.data.tables.frames import with_columns
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.table import TableConfig
from netwright.data.text.text_table import TextTableConfig

Settings = TypeVar("Settings", TableConfig, TextTableConfig)


def with_groups(table: RawTable, config: Settings, groups: Any) -> tuple[RawTable, Settings]:
    """The table and its settings, in which `group_column` names the groups.

    Args:
        table: the rows.
        config: its settings.
        groups: the name of a column, a group for each row (N,), or None.
    """
    if groups is None:
        return table, config
    if config.group_column is not None:
        raise ConfigError("group_column is set and groups are given: leave out one of them")
    if isinstance(groups, str):
        return table, replace(config, group_column=groups)
    wider, (column,) = with_columns(table, "group", groups)
    return wider, replace(config, group_column=column)
