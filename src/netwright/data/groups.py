"""Rows that belong together, such as those of one patient: a group is never in two parts.

A model that has learned from one row of a group knows something of the others: held out apart from
it, they would be too easy.

Groups are dealt out from the largest to the smallest, each to the part that lacks most rows; of
groups about as large as each other, chance says which comes first.

Shapes: N rows, G groups.
Source: Roberts et al., "Cross-validation strategies for data with temporal, spatial, hierarchical,
or phylogenetic structure" (2017).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from netwright.core.errors import ConfigError, DataError, ShapeError
from netwright.core.seeding import generator
from netwright.data.targets import read_targets


def read_groups(source: Any, count: int) -> Tensor | None:
    """The group of each row (N,), numbered; names, numbers and text are taken alike."""
    if source is None:
        return None
    if isinstance(source, str):
        raise ConfigError(
            f"groups must be a group for each row, got {source!r}: only a table has columns by name"
        )
    names = read_targets(source, "groups")
    if names.shape != (count,):
        raise ShapeError(f"groups must have shape ({count},), got {names.shape}")
    return torch.from_numpy(np.unique(names, return_inverse=True)[1])


def deal_groups(groups: Tensor, wanted: Sequence[float], seed: int) -> list[Tensor]:
    """The rows of each part, in their order; no group is in two parts, no part is empty.

    Args:
        groups: the group of each row (N,).
        wanted: the number of rows that each part is to have, more than 0.
        seed: of the order of groups that are about as large as each other.
    """
    names, sizes = torch.unique(groups, return_counts=True)
    if len(names) < len(wanted):
        raise DataError(
            f"{len(names)} groups are too few for {len(wanted)} parts: a group is never divided"
        )
    order = torch.randperm(len(names), generator=generator(seed, "groups"))
    # By powers of two, so that among groups of about one size the seed decides.
    order = order[sizes[order].double().log2().floor().argsort(descending=True, stable=True)]
    lacking = [float(count) for count in wanted]
    given: list[list[int]] = [[] for _ in wanted]
    for left, place in zip(range(len(order), 0, -1), order.tolist(), strict=True):
        empty = [part for part, its in enumerate(given) if not its]
        parts = empty if len(empty) >= left else range(len(given))  # the last ones fill those
        part = max(parts, key=lambda one: lacking[one])
        given[part].append(int(names[place]))
        lacking[part] -= int(sizes[place])
    return [torch.isin(groups, torch.tensor(its)).nonzero().flatten() for its in given]
