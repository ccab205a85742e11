"""A column of categories: one 0-or-1 column each, the rare ones together."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from netwright.core.errors import DataError
from netwright.data.tables.cells import (
    category_key,
    distinct_categories,
    in_order,
    in_quotes,
    shortened,
)
from netwright.data.tables.column_cells import Cells
from netwright.data.tables.features.feature import MISSING, Feature
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.training_column import TrainingColumn

OTHER, NOT_SEEN = "other", "not seen in training"
# Rows, and differences of shares in themselves and in standard errors, from which a change is said:
# so many that it matters, and more than chance does in any table.
FEWEST_ROWS, LARGE_SHARE, CLEAR = 30, 0.2, 4.0


@dataclass(frozen=True, kw_only=True)
class CategoryFeature(Feature):
    """One 0-or-1 column a category.

    Missing cells are a category of their own where training had some. A category that training did
    not have is "other" where there is one, else all its columns are 0; so are missing cells where
    training had none.

    Args:
        name: the column.
        categories: the kept categories, in order, with "missing" and "other" where they occur.
        has_missing: whether "missing" stands for missing cells.
        has_other: whether "other" stands for all categories that are not kept.
        distinct: the number of different categories in the training rows.
        counts: how many training rows each category has, or their weight; older runs have none.
        kept: how many of the different ones have a column of their own; those that say "other" and
            "missing" are among them, though they share theirs. Older runs have none.
    """

    kind: ClassVar[str] = "category"
    name: str
    categories: tuple[str, ...]
    has_missing: bool
    has_other: bool
    distinct: int
    counts: tuple[float, ...] = field(default=(), compare=False)
    kept: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        """Refuse categories of their own that are not among the others."""
        for name, is_there in ((MISSING, self.has_missing), (OTHER, self.has_other)):
            if is_there and name not in self.categories:
                raise DataError(f"{self.name!r:.60} has an unlisted category {name!r}")
        if len(self.counts) not in {0, len(self.categories)}:
            wanted = f"{len(self.categories)} counts of categories"
            raise DataError(f"{self.name!r:.60} must have {wanted}, got {len(self.counts)}")

    @classmethod
    def fit(cls, column: TrainingColumn, max_categories: int) -> "CategoryFeature":
        """Keep the categories of the training rows, the commonest where there are too many."""
        found = distinct_categories(column.amounts)
        has_other = len(found) > max_categories
        kept = sorted(found, key=lambda name: (-found[name], name))  # equals by name
        names = in_order(kept[: max_categories - 1] if has_other else kept)
        return cls.counted(column, names, has_other, len(found))

    @classmethod
    def counted(
        cls, column: TrainingColumn, names: Collection[str], has_other: bool, distinct: int
    ) -> Self:
        """The feature that keeps these categories, and how many training rows each has."""
        has_missing = column.missing > 0
        extra = [MISSING] * has_missing + [OTHER] * has_other
        feature = cls(
            name=column.name,
            categories=tuple(dict.fromkeys([*names, *extra])),  # a text "other" joins the others
            has_missing=has_missing,
            has_other=has_other,
            distinct=distinct,
            kept=len(names),
        )
        counts = feature._counted(column.cells, column.weights)
        return replace(feature, counts=tuple(counts.tolist()))

    def feature_names(self) -> tuple[str, ...]:
        """column=category."""
        return tuple(f"{self.name}={category}" for category in self.categories)

    def encode(self, table: RawTable) -> NDArray[np.float32]:
        """One-hot rows; a row of zeros where nothing fits."""
        places = self._places(table.column(self.name))
        width = len(self.categories)
        # One column more takes what fits nowhere, and is cut off.
        hot = np.zeros((len(places), width + 1), np.float32)
        hot[np.arange(len(places)), places] = 1
        return hot[:, :width]

    def units(self) -> list[tuple[float, float]]:
        """0 and 1 are what they are."""
        return [(0.0, 1.0)] * len(self.categories)

    def decode(self, values: Sequence[float]) -> str:
        """The category; "not seen in training" where no column is 1."""
        hot = [name for name, value in zip(self.categories, values, strict=True) if value]
        return hot[0] if hot else NOT_SEEN

    def remarks(self, table: RawTable) -> list[str]:
        """Categories that training did not have, and one that is far more or less common now.

        Unseen categories are hidden where there is "other".
        """
        cells = table.column(self.name)
        missing = int(cells.is_missing.sum())
        counts = {**cells.counts(), **({"": missing} if missing else {})}
        nowhere = len(self.categories)
        unseen = [text for text, code in self._codes(counts).items() if code == nowhere]
        texts = sorted(text for text in unseen if text)
        said = []
        if texts:
            count = sum(counts[text] for text in texts)
            shown = in_quotes(texts[:3]) + (", ..." if len(texts) > 3 else "")
            rows = "1 row" if count == 1 else f"{count} rows"
            word = "a value" if len(texts) == 1 else "values"
            said.append(f"{self.name}: {word} not seen in training, {shown}, in {rows}")
        if "" in unseen:
            said.append(f"{self.name}: {missing} missing, none in training")
        return said + self._drift(cells)

    def _drift(self, cells: Cells) -> list[str]:
        """The category whose share has changed most, by a test of two shares.

            z = (p - q) / sqrt(r (1 - r) (1/N + 1/M)),

        p of N new rows, q of M training rows, r of both together.
        """
        new, old = self._counted(cells), np.array(self.counts)
        rows, trained = len(cells), float(old.sum())
        if rows < FEWEST_ROWS or trained < FEWEST_ROWS:
            return []
        most = int(np.argmax(abs(new * trained - old * rows)))  # whole numbers: equals are equal
        now, then = new[most] / rows, old[most] / trained
        both = (new[most] + old[most]) / (rows + trained)
        error = math.sqrt(both * (1 - both) * (1 / rows + 1 / trained))
        if abs(now - then) < max(LARGE_SHARE, CLEAR * error):
            return []
        name = shortened(self.categories[most])
        return [f"{self.name}: {name} in {now:.0%} of the rows, {then:.0%} in training"]

    def note(self, missing: int) -> str:
        """How many values there are, and what became of the rare ones."""
        gone = f", {missing} missing (their own category)" if missing else ""
        if self.has_other:
            return (
                f"{self.distinct} distinct values; the {self.kept} most common kept, the rest is "
                f"'other'{gone}"
            )
        values = "1 value" if self.distinct == 1 else f"{self.distinct} values"
        return f"category, {values}{gone}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        lists = {"categories": list(self.categories), "counts": list(self.counts)}
        return {"kind": self.kind, **asdict(self), **lists}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """The feature that `to_json` gave."""
        return cls(
            name=values["name"],
            categories=tuple(values["categories"]),
            has_missing=values["has_missing"],
            has_other=values["has_other"],
            distinct=values["distinct"],
            counts=tuple(values.get("counts", ())),
            kept=values.get("kept", 0),
        )

    def _counted(
        self, cells: Cells, weights: NDArray[np.float64] | None = None
    ) -> NDArray[np.int64] | NDArray[np.float64]:
        """How many cells are of each category, or the sum of their weights."""
        counts = np.bincount(self._places(cells), weights, minlength=len(self.categories) + 1)
        return counts[: len(self.categories)]

    def _places(self, cells: Cells) -> NDArray[np.int64]:
        """The column of each cell (N,); the number of columns where it has none."""
        codes, texts = cells.coded
        known = self._codes(texts)
        return np.array([known[text] for text in texts], np.int64)[codes]

    def _codes(self, texts: Collection[str]) -> dict[str, int]:
        """Text -> its column; the number of columns where it has none."""
        known = self._known
        elsewhere = known[OTHER] if self.has_other else len(self.categories)
        codes = {text: known.get(category_key(text), elsewhere) for text in texts}
        if "" in texts:
            codes[""] = known[MISSING] if self.has_missing else elsewhere
        return codes

    @cached_property
    def _known(self) -> Mapping[str, int]:
        """What the writings of a category share -> its column."""
        return {category_key(category): i for i, category in enumerate(self.categories)}
