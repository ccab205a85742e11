"""Your own table as data: read, inferred, divided and encoded, with a note on every decision."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.config import Doc, Positive
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data, Split, check_data
from netwright.data.source import DataConfig
from netwright.data.spec import ClassType, DataSpec
from netwright.data.tables.columns import GivenKind, Role, summarise
from netwright.data.tables.dialect import Dialect
from netwright.data.tables.encoding import TableEncoder, counted_rows, fit_features
from netwright.data.tables.features.text_feature import MOST_WORDS
from netwright.data.tables.raw_table import RawTable, listed
from netwright.data.tables.reading import read_table
from netwright.data.tables.scaling import ScalingKind
from netwright.data.tables.splitting import (
    AUTOMATIC,
    Division,
    check_groups_apart,
    divide,
    find_split_column,
)
from netwright.data.tables.targets import TargetEncoder, check_present
from netwright.data.tables.training_column import TrainingColumn

MIN_ROWS = 5


@dataclass(frozen=True, kw_only=True)
class TableConfig(Dialect, DataConfig):
    """A table of your own: a header, one row an example, one column or several to predict."""

    path: Annotated[
        str,
        Doc(
            "the file: .csv, .tsv, .csv.gz, .tsv.gz or .parquet; or a folder of .parquet; or the "
            "address of either, as s3://bucket/table.parquet"
        ),
    ] = ""
    target: Annotated[tuple[str, ...], Doc("the column to predict, or several")] = ()
    target_kind: Annotated[
        Literal["auto", "class", "real", "labels"],
        Doc(
            "kind of target; auto: text, and integers with at most 20 distinct values, are a "
            "class, everything else is real; labels: columns of yes and no"
        ),
    ] = "auto"
    drop_missing_target: Annotated[bool, Doc("drop rows without a target")] = False
    drop: Annotated[tuple[str, ...], Doc("columns to drop")] = ()
    split_column: Annotated[
        str | None,
        Doc(
            "the column with the split: train, val, test, or 0, 1, 2, or TRUE (train) and FALSE "
            "(test); a column named 'split' is used automatically"
        ),
    ] = None
    weight_column: Annotated[str | None, Doc("the column of sample weights")] = None
    group_column: Annotated[
        str | None, Doc("the column of groups: rows of one group are never in two splits")
    ] = None
    types: Annotated[
        dict[str, GivenKind],
        Doc("column -> number, category, date or text, where the inferred type is wrong"),
    ] = field(default_factory=dict)
    missing: Annotated[
        tuple[str, ...],
        Doc("texts that mean missing, besides NA, NaN, null, None, ?, #DIV/0! and the empty cell"),
    ] = ()
    max_categories: Annotated[
        int, Ge(2), Doc("maximum number of categories per column; rarer ones become 'other'")
    ] = 50
    categories: Annotated[
        Literal["columns", "embedded"],
        Doc("a 0-or-1 column per category; embedded: a learned vector each, however many"),
    ] = "columns"
    max_words: Annotated[
        int, Ge(1), Doc("maximum number of words per column of type text, the most common")
    ] = MOST_WORDS
    scaling: Annotated[
        ScalingKind,
        Doc(
            "scaling of numbers: standard, by mean and standard deviation; robust, by median and "
            "quartiles, which a few absurd values do not move; log, logarithms first; quantile, "
            "normal scores first"
        ),
    ] = "standard"
    in_memory_gb: Annotated[
        Positive,
        Doc(
            "GB of a file that is read into memory; a larger CSV or parquet file is converted in "
            "parts, once, into rows that stay on disk"
        ),
    ] = 2.0
    cache_gb: Annotated[
        Positive,
        Doc(
            "GB of converted tables, and of copies of those that lie elsewhere, in the cache; the "
            "longest unused are removed first"
        ),
    ] = 100.0


def from_frame(frame: Any, config: TableConfig) -> Data:
    """The same for a pandas frame, or what turns into one; its index is ignored."""
    return table_data(read_table(frame, config.dialect), config)


def table_data(raw: RawTable, config: TableConfig, encoder: TableEncoder | None = None) -> Data:
    """A table that was read as data.

    Args:
        raw: the table.
        config: the settings.
        encoder: of a run that was trained with these; None: fitted on the training rows.
    """
    check_settings(raw, config)
    target = None if encoder is None else encoder.target
    rows = divide_rows(raw.with_missing(config.missing), config, target)
    table, division = rows.table, rows.division
    encoder = encoder or fit_encoder(table, division["train"].numpy(), rows, config)
    whole = Split(
        inputs=encoder.encode(table), targets=rows.targets, weights=encoder.encode_weights(table)
    )
    later = table.take(np.concatenate([division["val"].numpy(), division["test"].numpy()]))
    return divided_data(
        whole,
        division,
        encoder,
        name=table.name,
        class_type=encoder.target.class_type(table),
        notes=(*rows.notes, *column_notes(encoder, later)),
    )


@dataclass(frozen=True, kw_only=True)
class DividedRows:
    """The rows that have all their targets, and which of them train.

    Args:
        table: these rows.
        target: the kind of target, and its classes.
        targets: as the model learns them.
        split_column: the column that divides the rows, or None.
        division: the rows of each part.
        notes: what was repaired, left out and divided on the way.
    """

    table: RawTable
    target: TargetEncoder
    targets: Tensor
    split_column: str | None
    division: Division
    notes: tuple[str, ...]


def divide_rows(
    table: RawTable, config: TableConfig, target: TargetEncoder | None = None
) -> DividedRows:
    """Which rows train, choose and test; of columns only those that settings name are read."""
    table, dropped = _with_targets(table, config)
    target = target or TargetEncoder.fit(table, config.target, config.target_kind)
    targets = target.encode(table)
    split_column = _split_column(table, config)
    division, divided = divide(
        table,
        split_column,
        named=config.split_column is not None,
        val_size=config.val_size,
        test_size=config.test_size,
        seed=config.split_seed,
        classes=targets if target.kind == "class" else None,
        group_column=config.group_column,
    )
    check_groups_apart(table, division, config.group_column, split_column)
    return DividedRows(
        table=table,
        target=target,
        targets=targets,
        split_column=split_column,
        division=division,
        notes=(*table.notes, *dropped, divided),
    )


def column_notes(encoder: TableEncoder, later: RawTable) -> tuple[str, ...]:
    """What columns were taken for, and what rows that do not train have that training had not."""
    new = (f"{said} (validation and test rows)" for said in encoder.remarks(later))
    return (*encoder.notes(), *new)


def divided_data(
    whole: Split,
    division: Division,
    encoder: TableEncoder,
    *,
    name: str,
    class_type: ClassType,
    notes: tuple[str, ...],
) -> Data:
    """Encoded rows as data; what cannot be learned from is refused.

    Args:
        whole: all rows.
        division: the rows of each part.
        encoder: that encoded them.
        name: of the file.
        class_type: what the classes are in it.
        notes: so far.
    """
    splits = {part: whole.take(rows) for part, rows in division.items() if len(rows)}
    encoder.target.check_varies(splits["train"].targets, name)
    data = Data(
        name=name,
        spec=_spec(encoder, class_type),
        train=splits["train"],
        val=splits.get("val"),
        test=splits.get("test"),
        preprocessor=encoder,
        notes=(*notes, *encoder.target.never_trained(splits["train"].targets)),
    )
    check_data(data)
    return data


def _parts(config: TableConfig) -> dict[str, str]:
    """Column -> the setting that names it."""
    named = [("target", column) for column in config.target]
    named += [("drop", column) for column in config.drop]
    named += [("types", column) for column in config.types]
    named += [("split_column", column) for column in [config.split_column] if column is not None]
    named += [("weight_column", column) for column in [config.weight_column] if column is not None]
    named += [("group_column", column) for column in [config.group_column] if column is not None]
    parts: dict[str, str] = {}
    for setting, column in named:
        if column in parts:
            raise ConfigError(f"column {column!r} is used both as {parts[column]} and as {setting}")
        parts[column] = setting
    return parts


def check_settings(table: RawTable, config: TableConfig) -> None:
    """Refuse settings that name columns which are not there, or one column twice."""
    if not config.target:
        raise ConfigError(
            f"target is missing, wanted a column of {table.name}: {table.column_list}"
        )
    for column in _parts(config):
        table.column(column)


def _with_targets(table: RawTable, config: TableConfig) -> tuple[RawTable, tuple[str, ...]]:
    """The rows that have all their targets, and what was left out."""
    if not config.drop_missing_target:
        check_present(table, config.target, "; give --drop-missing-target to drop them")
    is_missing = np.any([table.column(column).is_missing for column in config.target], axis=0)
    rows = np.flatnonzero(~is_missing)
    if len(rows) < MIN_ROWS:
        raise DataError(f"{table.name}: {len(rows)} rows are too few, wanted at least {MIN_ROWS}")
    if len(rows) == len(table):
        return table, ()
    names = listed([repr(column) for column in config.target])
    gone = len(table) - len(rows)
    return table.take(rows), (f"{gone} of {len(table)} rows were dropped, without {names}",)


def _split_column(table: RawTable, config: TableConfig) -> str | None:
    if config.split_column is None and AUTOMATIC in _parts(config):
        return None
    return find_split_column(table, config.split_column)


def fit_encoder(
    table: RawTable, training: NDArray[np.int64], divided: DividedRows, config: TableConfig
) -> TableEncoder:
    """Infer and fit every column on the training rows.

    Args:
        table: the rows, or some of them.
        training: which of these train.
        divided: what was found of all rows.
        config: the settings.
    """
    target, split_column = divided.target, divided.split_column
    rows, weights = counted_rows(table, training, config.weight_column)
    roles: dict[str, Role] = dict.fromkeys(config.target, "target")
    roles |= dict.fromkeys(config.drop, "dropped")
    if split_column is not None:
        roles[split_column] = "split"
    if config.weight_column is not None:
        roles[config.weight_column] = "weight"
    if config.group_column is not None:
        roles[config.group_column] = "group"
    features, summaries = fit_features(
        table,
        rows,
        weights=weights,
        columns=[column for column in table.columns if column not in roles],
        types=config.types,
        max_categories=None if config.categories == "embedded" else config.max_categories,
        max_words=config.max_words,
        scaling=config.scaling,
    )
    notes = {
        "weight": "sample weights",
        "split": "defines the split",
        "group": "groups of rows, none of which is in two splits",
        "dropped": "dropped, as requested",
    }
    others = [
        summarise(
            TrainingColumn(table, column, rows), role, notes.get(role) or target.note(table, column)
        )
        for column, role in roles.items()
    ]
    return TableEncoder(
        features=features,
        target=target,
        weight_column=config.weight_column,
        missing=config.missing,
        summaries=(*others, *summaries),
        dialect=config.dialect,
    )


def _spec(encoder: TableEncoder, class_type: ClassType) -> DataSpec:
    names = encoder.feature_names
    return DataSpec(
        inputs="features",
        input_shape=(len(names),),
        target=encoder.target.kind,
        num_outputs=encoder.target.num_outputs,
        class_names=encoder.target.class_names,
        class_type=class_type,
        target_names=encoder.target.columns,
        feature_names=names,
        feature_groups=encoder.feature_groups,
        feature_levels=encoder.feature_levels,
    )
