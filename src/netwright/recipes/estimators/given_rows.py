"""Rows as scikit-learn's users give them: in an array, or in a sparse matrix, as text makes them.

A sparse matrix stays one. Only rows that are read together are made dense: those of a batch in
training (all of a small one), and as many as fit into a part of 2^24 numbers to predict. Its
numbers are standardised as those of an array are, since a batch is dense anyhow.

Shapes: N rows, F features.
"""
# ruff: noqa: N803 - scikit-learn calls the inputs X

from collections.abc import Iterator
from typing import Any

from scipy.sparse import issparse
from torch import Tensor

from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Split
from netwright.data.loading.mapped_inputs import MappedInputs, is_stored
from netwright.data.loading.stored import StoredSplit
from netwright.data.sparse_rows import rows_of
from netwright.models.catalog import MODELS
from netwright.recipes.plan.named_recipe import OwnModel

MOST_ROWS = 2**16  # encoded at a time: encoding takes several copies
MOST_NUMBERS = 2**24  # of a sparse matrix, where these rows would be more when dense


def takes_sparse(model: str | OwnModel) -> bool:
    """Whether a model learns from features (N, F), which may be sparse; one's own may."""
    if not isinstance(model, str):
        return True
    return model in MODELS and "features" in MODELS.load(model).inputs


def encoded_rows(X: Any, targets: Tensor, weights: Tensor | None, encoder: ArrayEncoder) -> Split:
    """Rows to learn from (N, ...), encoded now, or batch by batch where a sparse matrix is large.

    Args:
        X: as scikit-learn finds it right.
        targets: encoded.
        weights: how much each row counts (N,).
        encoder: of the rows that were learned from before.
    """
    rows = rows_of(X)
    if not is_stored(rows):
        return Split(inputs=encoder.encode(rows), targets=targets, weights=weights)
    stored = MappedInputs(rows, encoder, content="")  # nothing is saved that would be compared
    return StoredSplit(stored=stored, targets=targets, weights=weights)


def encoded_parts(X: Any, encoder: ArrayEncoder) -> Iterator[Tensor]:
    """All rows (N, ...), encoded, a part of them at a time."""
    size = min(MOST_ROWS, max(1, MOST_NUMBERS // X.shape[1])) if issparse(X) else MOST_ROWS  # type: ignore[attr-defined]
    for start in range(0, X.shape[0], size):
        yield encoder.encode(X[start : start + size])
