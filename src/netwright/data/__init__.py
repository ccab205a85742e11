"""Data: named splits of inputs and targets, from names, files, arrays and frames."""

from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.catalog import SOURCES, load
from netwright.data.dataset import Data, Split
from netwright.data.spec import DataSpec
from netwright.data.tables.table import TableConfig, from_frame
from netwright.data.tables.table_file import load_table

__all__ = [
    "SOURCES",
    "ArraysConfig",
    "Data",
    "DataSpec",
    "Split",
    "TableConfig",
    "from_arrays",
    "from_frame",
    "load",
    "load_table",
]
