"""A table in the order of time as data: the past of some columns, and what comes next in others.

The first windows train, the next ones choose and the last ones test; they are never shuffled. A
window to test may look back on rows that trained: that is its real past. No row is the target of
two parts.

Shapes: R rows, T steps of a window, N windows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
import torch
from torch import Tensor

from netwright.core.config import Doc, Fraction, Size
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data, Split, check_data
from netwright.data.series.encoder import SeriesEncoder
from netwright.data.series.time_order import (
    divide_in_time,
    divide_windows,
    find_unordered_dates,
)
from netwright.data.source import Source
from netwright.data.spec import DataSpec
from netwright.data.tables.columns import GivenKind, infer_column
from netwright.data.tables.dialect import Dialect
from netwright.data.tables.encoding import TableEncoder, fit_features
from netwright.data.tables.raw_table import RawTable, listed
from netwright.data.tables.reading import read_table
from netwright.data.tables.splitting import Division
from netwright.data.tables.targets import TargetEncoder
from netwright.data.tables.training_column import TrainingColumn

MAX_CATEGORIES = 50  # kept of one column; the rarer ones become "other"


@dataclass(frozen=True, kw_only=True)
class SeriesConfig(Dialect):
    """A table of your own whose rows follow each other in time."""

    path: Annotated[str, Doc("the file, in chronological order: .csv, .tsv or .parquet")] = ""
    target: Annotated[tuple[str, ...], Doc("the column to forecast, or several")] = ()
    target_kind: Annotated[
        Literal["auto", "class", "real"],
        Doc("kind of target; auto: text, and integers with few values, are a class"),
    ] = "auto"
    window: Annotated[Size, Doc("number of past rows to read")] = 10
    horizon: Annotated[Size, Doc("steps ahead to forecast: 1 is the next row")] = 1
    features: Annotated[
        tuple[str, ...],
        Doc("columns whose past is read; default: all numeric ones, including the target"),
    ] = ()
    known: Annotated[
        tuple[str, ...],
        Doc("columns whose value at the forecast time is known in advance: day of week, holiday"),
    ] = ()
    time: Annotated[
        str | None, Doc("the time column, which must be increasing; it is not a feature")
    ] = None
    split_column: Annotated[
        str | None,
        Doc("the column with the split: train, val, test, or TRUE (train) and FALSE (test)"),
    ] = None
    val_size: Annotated[
        Fraction, Doc("fraction of the windows, before the test ones, used for validation")
    ] = 0.1
    test_size: Annotated[
        Fraction, Doc("fraction of the windows, the last ones, used for testing")
    ] = 0.2
    types: Annotated[
        dict[str, GivenKind],
        Doc("column -> number, category, date or text, where the inferred type is wrong"),
    ] = field(default_factory=dict)
    missing: Annotated[
        tuple[str, ...],
        Doc("texts that mean missing, besides NA, NaN, null, None, ?, #DIV/0! and the empty cell"),
    ] = ()


def load_series(config: SeriesConfig) -> Data:
    """Read a table file in the order of time."""
    if not config.path:
        raise ConfigError("path is empty, wanted the path of a .csv, .tsv or .parquet file")
    return from_frame(config.path, config)


def reload_series(config: SeriesConfig, encoder: SeriesEncoder) -> Data:
    """The series of a run as the run read it."""
    return from_frame(config.path, config, encoder=encoder)


def from_frame(
    frame: Any, config: SeriesConfig, name: str = "", encoder: SeriesEncoder | None = None
) -> Data:
    """The same for a pandas frame, or whatever a table is read from; its index is ignored.

    Args:
        frame: the table.
        config: the settings.
        name: of the data; by default that of the table.
        encoder: of a run that was trained with these; None: fitted on the training rows.
    """
    table = read_table(frame, config.dialect).with_missing(config.missing)
    _check_settings(table, config)
    first = config.window + config.horizon - 1
    rows, left_out = _forecast_rows(table, first, config.target)  # one a window
    division = _division(table, rows, config)
    forecast = table.take(rows.tolist())
    if encoder is None:
        seen = range(int(rows[division["train"][-1]]) + 1)
        encoder = _fitted_encoder(table, seen, forecast, config)
    windows, targets = encoder.encode(table), encoder.past.target.encode(forecast)
    parts = {
        name: Split(inputs=windows[rows[places] - first], targets=targets[places])
        for name, places in division.items()
        if len(places)
    }
    found = (*table.notes, *left_out, *_notes_on_order(table, config))
    data = Data(
        name=name or table.name,
        spec=_spec(encoder, table),
        train=parts["train"],
        val=parts.get("val"),
        test=parts.get("test"),
        preprocessor=encoder,
        notes=(*found, _note_on_parts(parts), *_notes(encoder, parts)),
        test_is_given=config.split_column is not None and "test" in parts,
    )
    check_data(data)
    return data


SOURCE = Source(
    config=SeriesConfig,
    load=load_series,
    reload=reload_series,
    sentence="your own table in chronological order: forecast a column from the rows before",
    origin="your file",
    licence="yours",
    inputs=("series",),
)


def _check_settings(table: RawTable, config: SeriesConfig) -> None:
    if not config.target:
        raise ConfigError(
            f"target is missing, wanted a column of {table.name}: {table.column_list}"
        )
    apart = [column for column in (config.time, config.split_column) if column is not None]
    for column in (*config.target, *config.features, *config.known, *config.types, *apart):
        table.column(column)
    for column in apart:
        if column in {*config.target, *config.features, *config.known}:
            raise ConfigError(f"{column!r} gives the time or the split, it cannot be a feature")
    for column in config.known:
        if column in config.target:
            raise ConfigError(f"the target {column!r} is not known in advance")
    fewest = config.window + config.horizon
    if len(table) <= fewest:
        raise DataError(
            f"{table.name}: {len(table)} rows are too few, a window and its target need {fewest}"
        )


def _forecast_rows(
    table: RawTable, first: int, target: tuple[str, ...]
) -> tuple[Tensor, tuple[str, ...]]:
    """The rows that have a past and a target, and what was left out."""
    missing = [
        row
        for row in range(first, len(table))
        if any(not table.column(column)[row] for column in target)
    ]
    rows = torch.from_numpy(np.setdiff1d(np.arange(first, len(table)), missing))
    if not missing:
        return rows, ()
    where = listed([table.row_name(row) for row in missing], 5)
    total = len(table) - first
    return rows, (
        f"{len(missing)} of {total} windows are left out, their target is missing: {where}",
    )


def _notes_on_order(table: RawTable, config: SeriesConfig) -> Iterator[str]:
    """Rows are taken as they stand; a column of dates may say that they stand otherwise."""
    for column in () if config.time else find_unordered_dates(table):
        yield (
            f"the rows are used in file order, but the dates in {column!r} are not sorted; --set "
            f"data.time={column} checks them"
        )


def _division(table: RawTable, rows: Tensor, config: SeriesConfig) -> Division:
    if config.split_column is None:
        return divide_in_time(len(rows), val_size=config.val_size, test_size=config.test_size)
    return divide_windows(table, rows, config.split_column, val_size=config.val_size)


def _past_columns(table: RawTable, seen: range, config: SeriesConfig) -> tuple[str, ...]:
    """The columns that are named, else all numbers; the target among them."""
    if config.features:
        return config.features
    apart = {config.time, config.split_column, *config.known}
    return tuple(
        name
        for name in table.columns
        if name in config.target
        or (name not in apart and _is_number(TrainingColumn(table, name, seen), config))
    )


def _is_number(column: TrainingColumn, config: SeriesConfig) -> bool:
    return config.types.get(column.name, infer_column(column).kind) == "number"


def _fitted_encoder(
    table: RawTable, seen: range, forecast: RawTable, config: SeriesConfig
) -> SeriesEncoder:
    """Infer and fit columns on the rows that training sees, targets on those that are forecast."""
    target = TargetEncoder.fit(forecast, config.target, config.target_kind)
    return SeriesEncoder(
        past=_fitted(table, seen, _past_columns(table, seen, config), target, config),
        known=_fitted(table, seen, config.known, target, config) if config.known else None,
        window=config.window,
        horizon=config.horizon,
        time=config.time,
    )


def _fitted(
    table: RawTable,
    seen: range,
    columns: tuple[str, ...],
    target: TargetEncoder,
    config: SeriesConfig,
) -> TableEncoder:
    features, summaries = fit_features(
        table, seen, columns=columns, types=config.types, max_categories=MAX_CATEGORIES
    )
    return TableEncoder(
        features=features,
        target=target,
        missing=config.missing,
        summaries=summaries,
        dialect=config.dialect,
    )


def _spec(encoder: SeriesEncoder, table: RawTable) -> DataSpec:
    target = encoder.past.target
    return DataSpec(
        inputs="series",
        input_shape=(encoder.window, len(encoder.feature_names)),
        target=target.kind,
        num_outputs=target.num_outputs,
        class_names=target.class_names,
        class_type=target.class_type(table),
        target_names=target.columns,
    )


def _note_on_parts(parts: dict[str, Split]) -> str:
    counted = ", ".join(f"{len(part)} {name}" for name, part in parts.items())
    back = "; later splits read past rows of earlier ones" if len(parts) > 1 else ""
    return f"windows: {counted} (in chronological order{back})"


def _notes(encoder: SeriesEncoder, parts: dict[str, Split]) -> Iterator[str]:
    ahead = "the next row" if encoder.horizon == 1 else f"{encoder.horizon} rows ahead"
    yield f"{encoder.window} past rows are read to forecast {ahead}"
    yield from encoder.past.notes()
    if encoder.known is not None:
        yield from (f"known in advance: {said}" for said in encoder.known.notes())
    name, part = list(parts.items())[-1]
    last = encoder.persistence(part.inputs)
    if last is not None and part.targets.is_floating_point():
        errors = (part.targets - last).square().mean(dim=0).sqrt().tolist()
        said = ", ".join(
            f"{error:.4g} of {column}"
            for error, column in zip(errors, encoder.past.target.columns, strict=True)
        )
        yield f"repeating the last known value has an error of {said} ({name}, root mean square)"
