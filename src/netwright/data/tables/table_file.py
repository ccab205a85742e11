"""The file of a table as data: in memory, or from disk where it is larger than that."""

from netwright.core.errors import ConfigError
from netwright.data.dataset import Data
from netwright.data.source import Source
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.large.large_table import is_read_in_parts, load_large_table
from netwright.data.tables.reading import read_table
from netwright.data.tables.table import TableConfig, table_data


def load_table(config: TableConfig) -> Data:
    """Read a table file; what cannot be learned from is refused before any training."""
    if not config.path:
        raise ConfigError("path is empty, wanted the path of a .csv, .tsv or .parquet file")
    if is_read_in_parts(config):
        return load_large_table(config)
    return table_data(read_table(config.path, config.dialect), config)


def reload_table(config: TableConfig, encoder: TableEncoder) -> Data:
    """The table of a run as the run read it."""
    if is_read_in_parts(config):
        return load_large_table(config, encoder)
    return table_data(read_table(config.path, config.dialect), config, encoder)


SOURCE = Source(
    config=TableConfig,
    load=load_table,
    reload=reload_table,
    sentence="your own table of any size: CSV, TSV or parquet, also a folder of parquet files",
    origin="your file",
    licence="yours",
    inputs=("features",),
)
