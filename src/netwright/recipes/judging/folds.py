"""The rows of a data set as folds: each fold's inputs are encoded by its own training rows.

A mean, a scale or a list of categories that was found with the help of the held-out rows lets them
leak into training. So tables are encoded anew for every fold, and features are standardised anew.

Shapes: N rows that are divided.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from netwright.core.config import Config
from netwright.core.errors import ConfigError, DataError
from netwright.core.trees import join_rows
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Data, Split
from netwright.data.images.chosen_form import ImageConfig
from netwright.data.input_profile import measure_features, stretches, training_weights
from netwright.data.loading.stored import StoredSplit
from netwright.data.pixels import PixelSplit
from netwright.data.preprocessing import Preprocessor
from netwright.data.series.encoder import SeriesEncoder
from netwright.data.source import DataConfig
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.frames import new_name
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.reading import read_table
from netwright.data.tables.splitting import divide, groups_of
from netwright.data.tables.table import TableConfig, from_frame
from netwright.data.tables.targets import TargetEncoder
from netwright.data.text.corpus_encoder import CorpusEncoder
from netwright.data.text.pretraining.corrupted_encoder import CorruptedEncoder
from netwright.data.text.pretraining.masked_encoder import MaskedEncoder
from netwright.data.text.spans.span_encoder import SpanEncoder

ENCODED_BEFORE = (
    "the inputs were encoded before splitting into folds: the encoding was fitted on rows that "
    "are held out later, so scores may be slightly optimistic"
)

Build = Callable[[Tensor, Tensor, Tensor], Data]


@dataclass(frozen=True, kw_only=True)
class FoldableData:
    """Rows to divide, and how some of them become data.

    Args:
        data: the data as it was loaded.
        count: N.
        classes: the class of each row (N,), or None where the target is no class.
        val_share: share of the learning rows that is held out to choose by.
        groups: the group of each row (N,), none of which is in two folds, or None.
        build: places of the training, validation and held-out rows, together all of them -> data
            with these as train, val and test, encoded by the training rows alone.
        notes: what should be known of the scores, one sentence each.
    """

    data: Data
    count: int
    classes: Tensor | None
    val_share: float
    build: Build
    notes: tuple[str, ...] = ()
    groups: Tensor | None = None


def foldable(
    source: Any, config: Config | None, data: Data, *, keeps_test: bool = False
) -> FoldableData:
    """All rows of a source, but for a test split that comes with it.

    Args:
        source: what the caller calls data: a name, a path, a frame, arrays or `Data`.
        config: its settings; None for arrays and `Data`.
        data: what was loaded from it.
        keeps_test: whether the test rows that were held out of it by chance are left out too.
    """
    if isinstance(data.train, SourceSplit):
        raise ConfigError(
            "batches of a DataLoader cannot be divided into folds: give its Dataset, or arrays"
        )
    adjoining = SeriesEncoder | CorpusEncoder | MaskedEncoder | CorruptedEncoder
    if isinstance(data.preprocessor, adjoining):
        raise ConfigError(
            f"{data.name} cannot be cross-validated: its windows overlap or adjoin in one "
            f"sequence, so folds would leak"
        )
    if isinstance(data.preprocessor, SpanEncoder):
        raise ConfigError(
            f"{data.name} cannot be cross-validated: several questions share a context, so folds "
            f"would leak"
        )
    if isinstance(config, TableConfig) and isinstance(data.preprocessor, TableEncoder):
        if isinstance(data.train, StoredSplit):
            raise ConfigError(
                f"{data.name} cannot be divided into folds, which are read into memory: raise "
                f"data.in_memory_gb if it fits, or take some of its rows"
            )
        raw = read_table(config.path or source, config.dialect)
        return _fold_table(raw, config, data, data.preprocessor, keeps_test=keeps_test)
    if getattr(config, "group_column", None) is not None:
        raise ConfigError(
            f"{data.name} cannot be cross-validated by groups, which is for tables of columns: "
            f"divide it yourself, and give nw.fit data and test"
        )
    is_ours_to_divide = config is None or isinstance(config, DataConfig)
    comes_with_test = isinstance(source, Data) or data.test_is_given or not is_ours_to_divide
    return _fold_splits(data, config, leaves_test=comes_with_test or keeps_test)


def _fold_table(
    raw: RawTable, config: TableConfig, data: Data, encoder: TableEncoder, *, keeps_test: bool
) -> FoldableData:
    """Read the table again for every fold, with a column that says who trains."""
    table = raw.with_missing(config.missing)
    targets = zip(*(table.column(column) for column in config.target), strict=True)
    table = table.take([row for row, cells in enumerate(targets) if "" not in cells])
    kind = encoder.target.kind
    column = next((seen.name for seen in encoder.summaries if seen.kind == "split"), None)
    if column is not None or keeps_test:
        target = TargetEncoder.fit(table, config.target, kind)
        division, _ = divide(
            table,
            column,
            named=config.split_column is not None,
            val_size=config.val_size,
            test_size=config.test_size,
            seed=config.split_seed,
            classes=target.encode(table) if kind == "class" else None,
            group_column=config.group_column,
        )
        table = table.take(torch.cat([division["train"], division["val"]]).sort().values.tolist())
    column = column or new_name("fold", table.columns)
    settings = replace(config, split_column=column, target_kind=kind, val_size=0.0)

    def build(train: Tensor, val: Tensor, held_out: Tensor) -> Data:
        marks = [""] * len(table)
        for mark, rows in (("train", train), ("val", val), ("test", held_out)):
            for row in rows.tolist():
                marks[row] = mark
        return from_frame(replace(table, columns={**table.columns, column: marks}), settings)

    classes = (
        TargetEncoder.fit(table, config.target, kind).encode(table) if kind == "class" else None
    )
    return FoldableData(
        data=data,
        count=len(table),
        classes=classes,
        val_share=_val_share(data, len(table)),
        build=build,
        groups=None if config.group_column is None else groups_of(table, config.group_column),
    )


def _fold_splits(data: Data, config: Config | None, *, leaves_test: bool) -> FoldableData:
    """Put the splits together again, and standardise anew for every fold."""
    whole = join_splits(
        [split for name, split in data.splits() if name != "test" or not leaves_test]
    )
    encoder = data.preprocessor
    fitted = _is_fitted(encoder, config)
    in_memory = not isinstance(whole, StoredSplit)
    raw = None
    if isinstance(encoder, ArrayEncoder) and encoder.mean and in_memory:
        offset, scale = encoder.units()
        raw = (whole.inputs.double().flatten(1) * scale + offset).view_as(whole.inputs)

    def build(train: Tensor, val: Tensor, held_out: Tensor) -> Data:
        rows, own = whole, encoder
        if raw is not None and isinstance(encoder, ArrayEncoder):
            seen = (part.flatten(0, -2) for part in stretches("inputs", raw, train))
            steps = math.prod(encoder.input_shape[:-1])
            weights = training_weights(whole.weights, train, steps)
            own = encoder.standardised(measure_features(seen, weights))
            rows = replace(whole, inputs=own.scaled(raw))
        return replace(
            data,
            train=rows.take(train),
            val=rows.take(val) if len(val) else None,
            test=rows.take(held_out),
            preprocessor=own,
        )

    return FoldableData(
        data=data,
        count=len(whole),
        classes=whole.targets if data.spec.target == "class" else None,
        val_share=_val_share(data, len(whole)),
        build=build,
        notes=(ENCODED_BEFORE,) if fitted and raw is None else (),
    )


def _is_fitted(encoder: Preprocessor, config: Config | None) -> bool:
    """Whether the rows had a part in how they are encoded."""
    if isinstance(encoder, ArrayEncoder):
        return bool(encoder.mean)
    return not isinstance(config, ImageConfig) or config.normalize == "train"


def _val_share(data: Data, count: int) -> float:
    return 0.0 if data.val is None else len(data.val) / count


def join_splits(parts: list[Split]) -> Split:
    """The rows of several splits, one after the other."""
    targets = torch.cat([part.targets for part in parts])
    weights = None
    if any(part.weights is not None for part in parts):  # a row without a weight counts once
        weights = torch.cat(
            [torch.ones(len(part)) if part.weights is None else part.weights for part in parts]
        )
    images = [part for part in parts if isinstance(part, PixelSplit)]
    if len(images) == len(parts) and len({part.scaling for part in images}) == 1:
        pixels = torch.cat([part.pixels for part in images])  # bytes stay bytes
        scaling = images[0].scaling
        return PixelSplit(pixels=pixels, scaling=scaling, targets=targets, weights=weights)
    if not isinstance(parts[0], StoredSplit):
        inputs = join_rows([part.inputs for part in parts])
        return Split(inputs=inputs, targets=targets, weights=weights)
    stored = [part for part in parts if isinstance(part, StoredSplit)]
    if any(part.stored is not stored[0].stored for part in stored) or len(stored) < len(parts):
        raise DataError("splits stored in different places cannot be split again")
    rows = torch.cat([part.rows for part in stored])
    return StoredSplit(stored=stored[0].stored, targets=targets, weights=weights, rows=rows)
