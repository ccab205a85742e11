"""The encoder of a table: fitted on its training rows, kept with the model, used on new rows."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.config import parse, to_mapping
from netwright.core.errors import DataError
from netwright.data.encoder_checks import check_positive
from netwright.data.preprocessing import Preprocessor
from netwright.data.tables.cells import numbers_of
from netwright.data.tables.column_cells import Rows
from netwright.data.tables.columns import (
    ColumnSummary,
    GivenKind,
    Inference,
    forced_column,
    infer_column,
    summarise,
)
from netwright.data.tables.dialect import PLAIN, Dialect
from netwright.data.tables.features.category_feature import CategoryFeature
from netwright.data.tables.features.date_feature import DateFeature
from netwright.data.tables.features.embedded_category import EmbeddedCategory
from netwright.data.tables.features.feature import Feature
from netwright.data.tables.features.number_feature import NumberFeature
from netwright.data.tables.features.text_feature import MOST_WORDS, TextFeature
from netwright.data.tables.frames import column_table, columns_of
from netwright.data.tables.raw_table import RawTable, listed
from netwright.data.tables.reading import is_table, read_table
from netwright.data.tables.scaling import ScalingKind
from netwright.data.tables.targets import TargetEncoder
from netwright.data.tables.training_column import TrainingColumn

FORMAT = 1
# Columns that are held beside the encoded rows, and the rows that are written at a time: as many as
# the processor's cache has room for, as each column writes into all of them.
TOGETHER, BLOCK = 16, 4096
_FEATURES: Mapping[str, type[Feature]] = {
    "number": NumberFeature,
    "category": CategoryFeature,
    "embedded": EmbeddedCategory,
    "date": DateFeature,
    "text": TextFeature,
}


@dataclass(frozen=True, kw_only=True)
class TableEncoder(Preprocessor):
    """Rows of a table -> tensors, exactly as the training rows were encoded.

    It takes the path of a file, a frame, a row as a dict or a list of them. Columns that it does
    not know are ignored; one that it needs and that is not there is refused.

    Args:
        features: the columns that are learned from.
        target: the target columns.
        weight_column: the column of sample weights, or None.
        missing: texts that mean missing, beside the usual ones.
        summaries: every column as it was seen in the training rows, for reports.
        dialect: how files are written.
    """

    kind: ClassVar[str] = "table"
    features: tuple[Feature, ...]
    target: TargetEncoder
    weight_column: str | None = None
    missing: tuple[str, ...] = ()
    summaries: tuple[ColumnSummary, ...] = ()
    dialect: Dialect = PLAIN

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name for each number of an encoded row."""
        return tuple(name for feature in self.features for name in feature.feature_names())

    @property
    def feature_groups(self) -> tuple[int, ...]:
        """The column of each number of an encoded row; those of a category or text share one."""
        groups: list[int] = []
        for feature in self.features:
            width, first = len(feature.feature_names()), groups[-1] + 1 if groups else 0
            is_one = isinstance(feature, CategoryFeature | TextFeature)
            groups += [first] * width if is_one else range(first, first + width)
        return tuple(groups) if groups and groups[-1] + 1 < len(groups) else ()

    @property
    def feature_levels(self) -> tuple[int, ...]:
        """How many places each number of an encoded row may be, 0 of other numbers."""
        levels: list[int] = []
        for one in self.features:
            if isinstance(one, EmbeddedCategory):
                levels.append(one.levels)
            else:
                levels += [0] * len(one.feature_names())
        return tuple(levels) if any(levels) else ()

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes or labels in the order of the outputs; empty for reals."""
        return self.target.class_names

    @property
    def id_columns(self) -> tuple[str, ...]:
        """The columns that name rows, which training left out."""
        return tuple(column.name for column in self.summaries if column.kind == "id")

    def reading(self, **settings: str) -> "TableEncoder":
        """The same for files that are written otherwise."""
        given = {**to_mapping(self.dialect), **settings}
        return replace(self, dialect=parse(Dialect, given, "data"))

    def read(self, source: Any) -> RawTable:
        """The source as a raw table, with this encoder's missing texts."""
        return read_table(source, self.dialect).with_missing(self.missing)

    def read_labelled(self, source: Any) -> RawTable:
        """The same; it has every column that is learned from, the targets and the weights."""
        table = self.read(source)
        weights = [] if self.weight_column is None else [self.weight_column]
        table.check_columns([*self._columns, *self.target.columns, *weights])
        return table

    def encode(self, source: Any) -> Tensor:
        """New rows -> (N, F) float32."""
        table = self.read(source)
        table.check_columns(self._columns)
        encoded = np.empty((len(table), len(self.feature_names)), np.float32)
        end = 0
        for first in range(0, len(self.features), TOGETHER):
            parts = [one.encode(table) for one in self.features[first : first + TOGETHER]]
            start, end = end, end + sum(part.shape[1] for part in parts)
            for row in range(0, len(table), BLOCK):
                rows = slice(row, row + BLOCK)
                np.concatenate([one[rows] for one in parts], 1, out=encoded[rows, start:end])
        return torch.from_numpy(encoded)

    def units(self) -> tuple[Tensor, Tensor]:
        """Offset and scale of every number of an encoded row (F,), float64."""
        pairs = [pair for feature in self.features for pair in feature.units()]
        offset, scale = torch.tensor(pairs, dtype=torch.float64).unbind(1)
        return offset, scale

    def decode(self, inputs: Tensor) -> list[dict[str, str]]:
        """Each cell by its column, read back from the encoded numbers (N, F)."""
        widths = [len(feature.feature_names()) for feature in self.features]
        named = list(zip(self.features, [0, *accumulate(widths)], widths, strict=False))
        return [
            {one.name: one.decode(row[start : start + width]) for one, start, width in named}
            for row in inputs.tolist()
        ]

    def encode_targets(self, source: Any) -> Tensor:
        """The targets of new rows: class indices (N,), or labels or reals (N, K).

        Args:
            source: a table that has the target columns, or the targets alone: a series, an array
                or a list.
        """
        if is_table(source):
            return self.target.encode(self.read(source))
        return self.target.encode(column_table(columns_of(source), self.target.columns))

    def encode_weights(self, source: Any) -> Tensor | None:
        """The sample weights (N,) of new rows; None where training had none."""
        if self.weight_column is None:
            return None
        weights = row_weights(self.read(source), self.weight_column)
        return torch.from_numpy(weights.astype(np.float32))

    def remarks(self, source: Any) -> tuple[str, ...]:
        """What new rows have that training did not: categories, missing cells, far numbers."""
        table = self.read(source)
        table.check_columns(self._columns)
        return tuple(said for feature in self.features for said in feature.remarks(table))

    def notes(self) -> tuple[str, ...]:
        """What each column was taken for, one sentence each; plain numbers share one."""
        shown = [column for column in self.summaries if column.kind != "split"]
        plain = [column.name for column in shown if column.note == "number"]
        said = [column.sentence for column in shown if column.note != "number"]
        return (f"numbers: {listed(plain)}", *said) if plain else tuple(said)

    def check_numbers(self) -> None:
        """Refuse a table without a column to learn from, or without a target."""
        check_positive("the number of features", len(self.feature_names))
        self.target.check_columns()

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers; JSON keeps every float exactly."""
        return {
            "format": FORMAT,
            "features": [feature.to_json() for feature in self.features],
            "target": self.target.to_json(),
            "weight_column": self.weight_column,
            "missing": list(self.missing),
            "columns": [column.to_json() for column in self.summaries],
            "dialect": to_mapping(self.dialect),
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "TableEncoder":
        """The encoder that `to_json` gave."""
        if values.get("format") != FORMAT:
            got = values.get("format")
            raise DataError(f"a table encoder must have format {FORMAT}, got {got!r}")
        return cls(
            features=tuple(_feature(one) for one in values["features"]),
            target=TargetEncoder.from_json(values["target"]),
            weight_column=values["weight_column"],
            missing=tuple(values["missing"]),
            summaries=tuple(ColumnSummary(**one) for one in values["columns"]),
            dialect=parse(Dialect, values.get("dialect", {})),  # older runs have none
        )

    @property
    def _columns(self) -> list[str]:
        return [feature.name for feature in self.features]


def _feature(values: dict[str, Any]) -> Feature:
    if values.get("kind") not in list(_FEATURES):  # a list: the kind may be no text at all
        got = values.get("kind")
        raise DataError(f"a feature must be one of {', '.join(_FEATURES)}, got {got!r}")
    return _FEATURES[values["kind"]].from_json(values)


def row_weights(table: RawTable, column: str) -> NDArray[np.float64]:
    """The weights (N,) in a column; a missing one is refused by its place."""
    values = numbers_of(table, column)
    for row in np.flatnonzero(np.isnan(values)):
        raise table.refusal(int(row), column, "the weight is missing")
    return values


def counted_rows(
    table: RawTable, rows: NDArray[np.int64], weight_column: str | None
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """The training rows that count, and how much; all of them where there are no weights."""
    if weight_column is None:
        return rows, None
    weights = row_weights(table, weight_column)[rows]
    if (weights < 0).any() or not weights.any():  # `check_data` refuses them
        return rows, None
    return rows[weights > 0], weights[weights > 0]


def fit_features(
    table: RawTable,
    rows: Rows,
    *,
    weights: NDArray[np.float64] | None = None,
    columns: Collection[str],
    types: Mapping[str, GivenKind],
    max_categories: int | None,
    max_words: int = MOST_WORDS,
    scaling: ScalingKind = "standard",
) -> tuple[tuple[Feature, ...], tuple[ColumnSummary, ...]]:
    """Infer and fit columns on the training rows.

    Args:
        table: all rows; those that do not train are only checked for cells that cannot be read.
        rows: the training rows.
        weights: how much each of these counts, positive; None: all the same.
        columns: the columns to learn from.
        types: kinds that are given instead of inferred.
        max_categories: how many categories of one column are kept, with "other"; None: all that
            have two rows, to be embedded.
        max_words: how many words of one column of text are kept.
        scaling: of numbers: by mean and standard deviation, or by median and quartiles, or after a
            curve.
    """
    features: list[Feature] = []
    summaries = []
    for name in columns:
        column = TrainingColumn(table, name, rows, weights)
        given = types.get(name)
        found = infer_column(column) if given is None else forced_column(column, given)
        feature = _fitted(column, found, max_categories, max_words, scaling)
        if feature is None:
            note = f"left out, {found.remark}"
        else:
            features.append(feature)
            note = feature.note(column.missing) + (f" ({found.remark})" if found.remark else "")
        summaries.append(summarise(column, found.kind, note))
    if not any(feature.feature_names() for feature in features):
        why = listed([column.sentence for column in summaries], 4) or "there is no other column"
        raise DataError(f"{table.name} has no column to learn from; {why}")
    return tuple(features), tuple(summaries)


def _fitted(
    column: TrainingColumn,
    found: Inference,
    max_categories: int | None,
    max_words: int,
    scaling: ScalingKind,
) -> Feature | None:
    if found.kind == "number":
        return NumberFeature.fit(column, scaling, found.number_form)
    if found.kind == "category":
        if max_categories is None:
            return EmbeddedCategory.fit_places(column)
        return CategoryFeature.fit(column, max_categories)
    if found.kind == "date":
        return DateFeature.fit(column, found.date_form)
    if found.kind == "text":
        return TextFeature.fit(column, max_words)
    return None
