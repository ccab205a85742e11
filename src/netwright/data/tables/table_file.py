"""The file of a table as data: in memory, or from disk where it is larger than that."""

from dataclasses import replace

from netwright.core.errors import ConfigError
from netwright.data.dataset import Data
from netwright.data.files.addresses import is_address
from netwright.data.source import Source
from netwright.data.tables.cached.remote_table import local_table
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.large.large_table import is_read_in_parts, load_large_table
from netwright.data.tables.reading import read_table
from netwright.data.tables.table import TableConfig, table_data


def load_table(config: TableConfig) -> Data:
    """Read a table file; what cannot be learned from is refused before any training."""
    if not config.path:
        raise ConfigError("path is empty, wanted the path of a .csv, .tsv or .parquet file")
    here = _here(config)
    if is_read_in_parts(here):
        return load_large_table(here)
    return table_data(read_table(here.path, here.dialect), here)


def reload_table(config: TableConfig, encoder: TableEncoder) -> Data:
    """The table of a run as the run read it."""
    here = _here(config)
    if is_read_in_parts(here):
        return load_large_table(here, encoder)
    return table_data(read_table(here.path, here.dialect), here, encoder)


def _here(config: TableConfig) -> TableConfig:
    """The settings with the place of the copy of a table that lies elsewhere."""
    if not is_address(config.path):
        return config
    return replace(config, path=str(local_table(config.path, config.cache_gb)))


SOURCE = Source(
    config=TableConfig,
    load=load_table,
    reload=reload_table,
    sentence="your own table of any size: CSV, TSV or parquet, also a folder of parquet files",
    origin="your file",
    licence="yours",
    inputs=("features",),
)
