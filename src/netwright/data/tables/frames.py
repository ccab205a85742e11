"""Frames, parquet files and rows of Python values -> a raw table."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netwright.core.errors import DataError
from netwright.core.limits import COLUMNS, CONTENT, UNPACKED
from netwright.data.files.file_content import FREE
from netwright.data.raw_arrays import column_names, read_array
from netwright.data.spec import ClassType
from netwright.data.tables.column_cells import (
    Cells,
    ListCells,
    NumberCells,
    is_plain,
)
from netwright.data.tables.framed.cell_text import cell_text
from netwright.data.tables.raw_table import RawTable, clean

NUMBER = 8  # bytes

Values = Sequence[Any] | NDArray[Any]  # of a column: Python's, or plain numbers

if TYPE_CHECKING:
    import pandas as pd


def is_pandas_frame(source: Any) -> bool:
    """Whether this is a pandas frame, without importing pandas."""
    return _is_frame_of("pandas", source)


def is_polars_frame(source: Any) -> bool:
    """Whether this is a polars frame, without importing polars."""
    return _is_frame_of("polars", source)


def is_arrow_table(source: Any) -> bool:
    """Whether this is a table of pyarrow, without importing pyarrow."""
    return _is_frame_of("pyarrow", source, "Table")


def is_frame(source: Any) -> bool:
    """Whether this is a frame of one of these packages."""
    return is_pandas_frame(source) or is_polars_frame(source) or is_arrow_table(source)


def _is_frame_of(package: str, source: Any, name: str = "DataFrame") -> bool:
    kind = type(source)
    return kind.__module__.partition(".")[0] == package and kind.__name__ == name


def frame_table(frame: Any, name: str = "frame") -> RawTable:
    """A pandas, polars or Arrow table, or what turns into one of pandas; its index is ignored."""
    if is_polars_frame(frame):
        names, values = frame.columns, [_polars_values(one) for one in frame.get_columns()]
    elif is_arrow_table(frame):
        frame = _without_index(frame)
        names, values = frame.column_names, [_arrow_values(one) for one in frame.columns]
    else:
        frame = _as_pandas(frame)
        values = [_pandas_values(frame.iloc[:, place]) for place in range(frame.shape[1])]
        names = list(frame.columns)
    names = [str(column).strip() for column in names]
    _check_names(name, names)
    if not len(frame):
        raise DataError(f"{name}: there are columns but no row")
    return values_table(name, dict(zip(names, values, strict=True)))


def _pandas_values(series: "pd.Series[Any]") -> Values:
    return series.to_numpy() if is_plain(series.dtype) else series.astype(object).tolist()


def _polars_values(series: Any) -> Values:
    """Whole numbers, some of them missing, have no array of their own kind."""
    is_whole = series.dtype.is_integer() and not series.null_count()
    array = series.to_numpy() if is_whole or series.dtype.is_float() else None
    values: Values = array if array is not None and is_plain(array.dtype) else series.to_list()
    return values


def _without_index(table: Any) -> Any:
    """An Arrow table but for the columns that were the index of a pandas frame."""
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    names = table.column_names
    return table.select([place for place, name in enumerate(names) if name not in index])


def _arrow_values(column: Any) -> Values:
    """Whole numbers, some of them missing, would become floats."""
    import pyarrow.types as pt  # noqa: PLC0415 - it is there: the caller has a table of it

    is_whole = pt.is_integer(column.type) and not column.null_count
    values: Values = (
        column.to_numpy() if is_whole or pt.is_floating(column.type) else column.to_pylist()
    )
    return values


def parquet_table(path: Path) -> RawTable:
    """A parquet file; needs pandas and pyarrow."""
    return frame_table(parquet_frame(path), path.name)


def parquet_frame(path: Path) -> "pd.DataFrame":
    """The same as a frame of pandas."""
    with opened_parquet(path) as file:
        size = unpacked_size(file)
        CONTENT.check(path.name, size / 1e9, "takes")
        check_unpacked(path, size)
        texts = text_columns(file)
        if texts:
            letters = _letters(path, texts)
            CONTENT.check(path.name, (size + letters) / 1e9, "takes")
            check_unpacked(path, size + letters)
        # In one thread: several prepare all columns at a time, 170 kB of memory for each.
        frame: pd.DataFrame = file.read(use_threads=False).to_pandas()
    return frame


@contextmanager
def opened_parquet(path: Path, **options: Any) -> Iterator[Any]:
    """A parquet file with one value a cell; what cannot be read of it is refused.

    Args:
        path: of the file.
        **options: of pyarrow's `ParquetFile`.
    """
    try:
        import pandas as pd  # noqa: F401, PLC0415 - optional, and slow to import
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise DataError(
            "reading parquet needs the extra: pip install 'netwright[tables]'"
        ) from None
    try:
        with pq.ParquetFile(path, **options) as file:
            _check_cells(path, file)
            yield file
    except DataError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise DataError(f"{path.name}: not a readable parquet file: {reason}") from None


def _check_cells(path: Path, file: Any) -> None:
    """Refuse too many columns, and cells that hold several values."""
    COLUMNS.check(path.name, file.metadata.num_columns)
    for column in _columns(file):
        if column.path != column.name or column.max_repetition_level:
            raise DataError(
                f"{path.name}: {column.path!r:.100} is part of a list or a record, wanted one "
                "value per cell"
            )


def _columns(file: Any) -> list[Any]:
    return [file.schema.column(place) for place in range(file.metadata.num_columns)]


def text_columns(file: Any) -> list[str]:
    """The columns of a parquet file that hold texts, or bytes."""
    return [column.path for column in _columns(file) if column.physical_type == "BYTE_ARRAY"]


def unpacked_size(file: Any) -> int:
    """The bytes of a parquet file in memory, but for texts that it holds once and repeats."""
    head = file.metadata
    groups = [head.row_group(place).total_byte_size for place in range(head.num_row_groups)]
    return int(max(sum(groups), head.num_rows * head.num_columns * NUMBER))


def check_unpacked(path: Path, size: int) -> None:
    """Refuse what takes far more than its file: what repeats takes no room in one."""
    if size > FREE + UNPACKED.value * path.stat().st_size:
        raise DataError(f"{path.name} unpacks to far more than its size, {UNPACKED.way_out}")


def _letters(path: Path, columns: list[str]) -> int:
    """The bytes of all texts, of which a file holds those that repeat only once."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - optional, and slow to import

    table = pq.read_table(path, columns=columns, read_dictionary=columns, use_threads=False)
    return sum(text_size(chunk) for column in table.columns for chunk in column.chunks)


def text_size(chunk: Any) -> int:
    """The bytes of the texts in an Arrow array that was read with a dictionary."""
    import pyarrow.compute as pc  # noqa: PLC0415 - optional, and slow to import

    if not hasattr(chunk, "dictionary"):  # decimals have none
        return 0
    lengths = pc.binary_length(chunk.dictionary).take(chunk.indices)
    return int(pc.sum(lengths).as_py() or 0)


def rows_table(rows: Sequence[Mapping[str, Any]], name: str = "input") -> RawTable:
    """Rows as dicts; the first one names the columns, and no later row may lack one."""
    if not rows:
        raise DataError(f"{name}: there is no row")
    names = [str(column) for column in rows[0]]
    _check_names(name, names)
    for place, row in enumerate(rows):
        for column in rows[0]:
            if column not in row:
                raise DataError(
                    f"{name}, row {place}: no {column!r}; give None where it is missing"
                )
    return values_table(name, {str(column): [row[column] for row in rows] for column in rows[0]})


def with_columns(table: RawTable, name: str, values: Any) -> tuple[RawTable, tuple[str, ...]]:
    """A table with columns beside it, and what they are called: by a name that no other has.

    Args:
        table: the rows.
        name: of a column that brings no name along; several are numbered.
        values: (N,) or (N, K): a series, a frame, an array or a list.
    """
    columns = columns_of(values)
    width = columns.shape[1]
    plain = (name,) if width == 1 else tuple(f"{name}{place}" for place in range(width))
    names: list[str] = []
    for one in column_names(values) or plain:
        names.append(new_name(one, {*table.columns, *names}))
    if len(columns) != len(table):
        raise DataError(f"{table.name} has {len(table)} rows, but {len(columns)} of {names[0]!r}")
    beside = column_table(columns, names)
    return replace(
        table,
        columns={**table.columns, **beside.columns},
        types={**table.types, **beside.types},
    ), tuple(names)


def new_name(name: str, taken: Collection[str]) -> str:
    """The name, with lines after it until no other is like it."""
    while name in taken:
        name += "_"
    return name


def columns_of(values: Any) -> NDArray[Any]:
    """Values (N,) or (N, K) as Python objects (N, K)."""
    array = read_array("targets", values).astype(object)
    if array.ndim not in {1, 2}:
        raise DataError(f"targets must have shape (N,) or (N, K), got {array.shape}")
    return array[:, None] if array.ndim == 1 else array


def column_table(columns: NDArray[Any], names: Sequence[str], name: str = "targets") -> RawTable:
    """Columns (N, K) of Python objects under these names."""
    if columns.shape[1] != len(names):
        raise DataError(f"{name} must have {len(names)} columns, got {columns.shape[1]}")
    return values_table(name, {one: columns[:, place].tolist() for place, one in enumerate(names)})


def values_table(name: str, columns: Mapping[str, Values]) -> RawTable:
    """Columns of Python values, or of plain numbers, as text, and what the values were."""
    cells = {
        column: NumberCells(values)
        if isinstance(values, np.ndarray)
        else ListCells(clean(map(cell_text, values)))
        for column, values in columns.items()
    }
    return RawTable(
        name=name,
        columns=cells,
        positions=range(len(next(iter(cells.values())))),
        notes=tuple(
            f"{column}: durations, read as seconds"
            for column, texts in cells.items()
            if _are_durations(columns[column], texts)
        ),
        types={column: _type_of(values, cells[column]) for column, values in columns.items()},
    )


def _type_of(values: Values, cells: Cells) -> ClassType:
    """What all values are that are not missing; whole numbers beside others are floats too."""
    if isinstance(values, np.ndarray):
        if cells.is_missing.all():
            return "text"
        return "float" if values.dtype.kind == "f" else "int"
    present = {type(value) for value, cell in zip(values, cells, strict=True) if cell}

    def are_all(*kinds: type) -> bool:
        return all(issubclass(kind, kinds) for kind in present)

    if are_all(str):
        return "text"
    if are_all(bool, np.bool_):
        return "bool"
    if are_all(int, np.integer) and bool not in present:
        return "int"
    return "float" if are_all(int, float, np.number) and bool not in present else ""


def _are_durations(values: Values, cells: Cells) -> bool:
    if isinstance(values, np.ndarray):
        return False
    first = next((value for value, cell in zip(values, cells, strict=True) if cell), None)
    return isinstance(first, timedelta)


def _as_pandas(frame: Any) -> "pd.DataFrame":
    try:
        import pandas as pd  # noqa: PLC0415 - optional, and slow to import
    except ImportError:
        raise DataError("reading frames needs the extra: pip install 'netwright[tables]'") from None
    if isinstance(frame, pd.DataFrame):
        return frame
    if hasattr(frame, "__dataframe__"):
        return pd.api.interchange.from_dataframe(frame)
    raise DataError(
        f"a table cannot be read from {type(frame).__name__}; give a file's path, a frame, "
        "a row as a dict, or a list of them"
    )


def _check_names(name: str, names: Sequence[str]) -> None:
    if not names:
        raise DataError(f"{name}: there is no column")
    seen: set[str] = set()
    for column in names:
        if column in seen:
            raise DataError(f"{name}: column {column!r} appears twice")
        seen.add(column)
