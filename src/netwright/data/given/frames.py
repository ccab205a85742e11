"""Frames as they are given: pandas and polars, with the target among their columns."""

import os
from collections.abc import Mapping
from typing import Any

from netwright.data.dataset import Data
from netwright.data.given.form import GivenForm
from netwright.data.given.given import Given
from netwright.data.given.held_out import add_splits
from netwright.data.given.table_groups import with_groups
from netwright.data.tables.frames import is_frame
from netwright.data.tables.reading import read_table
from netwright.data.tables.table import TableConfig, from_frame
from netwright.data.text.text_rows import read_text_rows
from netwright.data.text.text_table import TextTableConfig, text_table_data


def is_table(source: Any) -> bool:
    """Whether this is a frame, or the path of a table that stands beside other rows."""
    return is_frame(source) or isinstance(source, str | os.PathLike)


def frame_settings(
    _source: Any, settings: Mapping[str, Any]
) -> type[TableConfig | TextTableConfig]:
    """Those of a table, or with `text` those of one that has a text in each row."""
    return TextTableConfig if "text" in settings else TableConfig


def _load(given: Given, config: TableConfig | TextTableConfig) -> Data:
    if isinstance(config, TextTableConfig):
        texts = read_text_rows(given.data, config.encoding)
        data = text_table_data(*with_groups(texts, config, given.groups))
    else:
        table = read_table(given.data, config.dialect)
        data = from_frame(*with_groups(table, config, given.groups))
    return add_splits(data, given)


FRAME = GivenForm(name="a frame", recognises=is_table, settings=frame_settings, load=_load)
