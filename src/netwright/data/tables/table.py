"""Your own table as data: read, inferred, divided and encoded, with a note on every decision."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.config import Doc
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data, Split, check_data
from netwright.data.source import DataConfig, Source
from netwright.data.spec import DataSpec
from netwright.data.tables.columns import GivenKind, Role, summarise
from netwright.data.tables.dialect import Dialect
from netwright.data.tables.encoding import TableEncoder, fit_features, row_weights
from netwright.data.tables.features.text_feature import MOST_WORDS
from netwright.data.tables.raw_table import RawTable, listed
from netwright.data.tables.reading import read_table
from netwright.data.tables.scaling import ScalingKind
from netwright.data.tables.splitting import AUTOMATIC, Division, divide, find_split_column
from netwright.data.tables.targets import TargetEncoder, check_present
from netwright.data.tables.training_column import TrainingColumn

MIN_ROWS = 5


@dataclass(frozen=True, kw_only=True)
class TableConfig(Dialect, DataConfig):
    """A table of your own: a header, one row an example, one column or several to predict."""

    path: Annotated[str, Doc("the file: .csv, .tsv, .csv.gz, .tsv.gz or .parquet")] = ""
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
        Doc("texts that mean missing, besides NA, NaN, null, None, ? and the empty cell"),
    ] = ()
    max_categories: Annotated[
        int, Ge(2), Doc("maximum number of categories per column; rarer ones become 'other'")
    ] = 50
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


def load_table(config: TableConfig) -> Data:
    """Read a table file; what cannot be learned from is refused before any training."""
    if not config.path:
        raise ConfigError("path is empty, wanted the path of a .csv, .tsv or .parquet file")
    return _data(read_table(config.path, config.dialect), config)


def from_frame(frame: Any, config: TableConfig) -> Data:
    """The same for a pandas frame, or what turns into one; its index is ignored."""
    return _data(read_table(frame, config.dialect), config)


SOURCE = Source(
    config=TableConfig,
    load=load_table,
    sentence="your own table: CSV, TSV or parquet, any size that fits in memory",
    origin="your file",
    licence="yours",
    inputs=("features",),
)


def _data(raw: RawTable, config: TableConfig) -> Data:
    table = raw.with_missing(config.missing)
    _check_settings(table, config)
    table, dropped = _with_targets(table, config)
    target = TargetEncoder.fit(table, config.target, config.target_kind)
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
    encoder = _fitted(table, division, target, split_column, config)
    splits = _splits(table, division, targets, encoder)
    later = table.take(np.concatenate([division["val"].numpy(), division["test"].numpy()]))
    new = [f"{said} (validation and test rows)" for said in encoder.remarks(later)]
    new += _never_trained(encoder.target, splits["train"])
    data = Data(
        name=table.name,
        spec=_spec(encoder, table),
        train=splits["train"],
        val=splits.get("val"),
        test=splits.get("test"),
        preprocessor=encoder,
        notes=(*table.notes, *dropped, divided, *encoder.notes(), *new),
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


def _check_settings(table: RawTable, config: TableConfig) -> None:
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


def _fitted(
    table: RawTable,
    division: Division,
    target: TargetEncoder,
    split_column: str | None,
    config: TableConfig,
) -> TableEncoder:
    rows, weights = _counted_rows(table, division["train"].numpy(), config.weight_column)
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
        max_categories=config.max_categories,
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
            TrainingColumn(table, column, rows),
            role,
            notes.get(role) or target.note(table, column),
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


def _counted_rows(
    table: RawTable, rows: NDArray[np.int64], weight_column: str | None
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """The training rows that count, and how much; all of them where there are no weights."""
    if weight_column is None:
        return rows, None
    weights = row_weights(table, weight_column)[rows]
    if (weights < 0).any() or not weights.any():  # `check_data` refuses them
        return rows, None
    return rows[weights > 0], weights[weights > 0]


def _splits(
    table: RawTable, division: Division, targets: Tensor, encoder: TableEncoder
) -> dict[str, Split]:
    whole = Split(
        inputs=encoder.encode(table), targets=targets, weights=encoder.encode_weights(table)
    )
    splits = {name: whole.take(rows) for name, rows in division.items() if len(rows)}
    reals = splits["train"].targets if encoder.target.kind == "real" else None
    if reals is not None and bool((reals == reals[0]).all(dim=0).any()):
        column = encoder.target.columns[int((reals == reals[0]).all(dim=0).nonzero()[0])]
        raise DataError(
            f"{table.name}: the target {column!r} is constant in the training rows, there is "
            f"nothing to learn"
        )
    return splits


def _never_trained(target: TargetEncoder, train: Split) -> list[str]:
    """Classes that only held-out rows have."""
    if target.kind != "class":
        return []
    seen = set(train.targets.tolist())
    absent = [repr(name) for place, name in enumerate(target.class_names) if place not in seen]
    return [f"{target.columns[0]}: no training row is {listed(absent)}"] if absent else []


def _spec(encoder: TableEncoder, table: RawTable) -> DataSpec:
    names = encoder.feature_names
    return DataSpec(
        inputs="features",
        input_shape=(len(names),),
        target=encoder.target.kind,
        num_outputs=encoder.target.num_outputs,
        class_names=encoder.target.class_names,
        class_type=encoder.target.class_type(table),
        target_names=encoder.target.columns,
        feature_names=names,
        feature_groups=encoder.feature_groups,
    )
