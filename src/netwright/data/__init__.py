"""Data: named splits of inputs and targets, from names, files, arrays and frames."""

from netwright.data.arrays import ArraysConfig as ArraysConfig
from netwright.data.arrays import from_arrays as from_arrays
from netwright.data.catalog import SOURCES as SOURCES
from netwright.data.catalog import load as load
from netwright.data.dataset import Data as Data
from netwright.data.dataset import Split as Split
from netwright.data.spec import DataSpec as DataSpec
from netwright.data.tables.table import TableConfig as TableConfig
from netwright.data.tables.table import from_frame as from_frame
from netwright.data.tables.table import load_table as load_table
