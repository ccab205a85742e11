"""Where loaded data came from: its settings, and its rows as their owner knows them.

Loading shuffles, divides and encodes rows; a row is found again in its source by what it is encoded
as, so that a sentence names the line of a file, and never a place that only a loader knows.

Shapes: N rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from netwright.core.config import Config
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.checkup.row_digests import row_digests
from netwright.data.checkup.wording import first_few
from netwright.data.dataset import Data, Split
from netwright.data.loading.mapped_inputs import is_stored
from netwright.data.loading.stored import StoredSplit
from netwright.data.sparse_rows import rows_of
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.table import TableConfig


class SourceRows(NamedTuple):
    """All rows of a source, encoded; where each stands in it (N,), and what a place is called."""

    split: Split
    places: Sequence[int]
    word: str


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The source of loaded data.

    Args:
        source: a frame, or arrays (inputs, targets); None where the config has a path.
        config: the settings of the source; None for data that was ready.
    """

    source: Any = None
    config: Config | None = None

    def takes(self, setting: str) -> bool:
        """Whether the source has such a setting, so that a remedy may name it."""
        return hasattr(self.config, setting)

    def see(self, otherwise: str) -> str:
        """What explains the settings of a table; else something else."""
        return "table" if isinstance(self.config, TableConfig) else otherwise

    def places(
        self, data: Data, split: Split, rows: Sequence[int], *, with_targets: bool = False
    ) -> str:
        """Where rows of a split stand in the source: " (line 3 = 301, 8)"; "" where none knows.

        Equal rows of the source stand together.

        Args:
            data: as it was loaded.
            split: of the data.
            rows: places in the split.
            with_targets: whether rows are equal only if their targets are, too.
        """
        known = self._source_rows(data)
        if known is None:
            return ""
        wanted = row_digests(split.take(torch.tensor(rows)), with_targets=with_targets)
        digests = row_digests(known.split, with_targets=with_targets)
        groups = [np.flatnonzero(digests == one).tolist() for one in dict.fromkeys(wanted.tolist())]
        told = [
            " = ".join(str(known.places[row]) for row in rows) for rows in sorted(groups) if rows
        ]
        return f" ({known.word} {first_few(told)})" if told else ""

    def _source_rows(self, data: Data) -> SourceRows | None:
        encoder = data.preprocessor
        if isinstance(data.train, StoredSplit):
            return None  # too many to look for
        if isinstance(self.config, TableConfig) and isinstance(encoder, TableEncoder):
            table = encoder.read(self.config.path if self.source is None else self.source)
            targets = zip(*(table.column(name) for name in self.config.target), strict=True)
            table = table.take([row for row, cells in enumerate(targets) if "" not in cells])
            whole = Split(inputs=encoder.encode(table), targets=encoder.encode_targets(table))
            if table.lines is None:
                return SourceRows(whole, table.positions, "row")
            return SourceRows(whole, table.lines, "line")
        if not isinstance(self.source, tuple) or not isinstance(encoder, ArrayEncoder):
            return None
        inputs, targets = self.source[:2]
        if is_stored(rows_of(inputs)) or getattr(self.config, "missing", "") == "drop":
            return None  # too many to look for, or not where they were
        whole = Split(inputs=encoder.encode(inputs), targets=encoder.encode_targets(targets))
        return SourceRows(whole, range(len(whole)), "row")
