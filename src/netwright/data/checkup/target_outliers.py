"""Targets so far off that squared errors see hardly anything else.

    share = sum of (y - mean)^2 over the farthest fiftieth of the rows / the same over all rows

A normal target has a share of about 0.15, a log-normal one of about 0.6. Where it is nearly
1, least squares fits these few rows, and R2 tells of them alone.

Shapes: N rows, K targets.
"""

import math
from typing import NamedTuple

from netwright.core.finding import Finding
from netwright.data.checkup.check import Check
from netwright.data.checkup.origin import Origin
from netwright.data.checkup.wording import first_few
from netwright.data.checkup.wording import share as share_in_words
from netwright.data.dataset import Data, Split

MOST_SHARE = 0.9  # of the squared deviation
FEW = 50  # one row in so many may be a far one
LEAST_ROWS = 20  # of fewer, one row is much anyway
SHOWN = 3  # values that a sentence names


class Farthest(NamedTuple):
    """The rows of one target that are farthest off, and their share of its squared deviation."""

    share: float
    target: int
    rows: list[int]


def farthest_rows(split: Split) -> Farthest:
    """Of all targets (N, K) the one whose farthest fiftieth of rows has the largest share."""
    targets = split.targets.cpu().double()
    squares = (targets - targets.mean(dim=0)).square()
    if split.weights is not None:
        squares *= split.weights.cpu()[:, None]
    top = squares.topk(math.ceil(len(targets) / FEW), dim=0)
    shares = (top.values.sum(dim=0) / squares.sum(dim=0)).nan_to_num(0.0)  # constant: 0 / 0
    target = int(shares.argmax())
    # There may be fewer far ones: those that add little are not among them.
    is_far = top.values[:, target] > squares[:, target].mean()
    return Farthest(float(shares[target]), target, top.indices[is_far, target].tolist())


def find_target_outliers(data: Data, origin: Origin) -> Finding | None:
    """A target of which a fiftieth of the rows, in any split, makes nearly all the spread."""
    for name, split in data.splits():
        if len(split) < LEAST_ROWS:
            continue
        share, target, rows = farthest_rows(split)
        if share < MOST_SHARE:
            continue
        rows = [*sorted(rows[:SHOWN]), *rows[SHOWN:]]  # places are told in order: values as well
        what = repr(data.spec.target_names[target]) if data.spec.target_names else "the target"
        values = [f"{value:.4g}" for value in split.targets[rows, target].tolist()]
        middle = float(split.targets[:, target].median())
        return Finding(
            illness="target-outliers",
            sentence=f"{share_in_words(len(rows), len(split))} rows of {name} account for "
            f"{share:.1%} of the squared deviation of {what}: "
            f"{first_few(values, SHOWN)}, where the median is {middle:.4g}"
            f"{origin.places(data, split, rows[:SHOWN], with_targets=True)}; they dominate the "
            f"squared error",
            fix="Fix these targets or drop the rows; if they are correct, predict the logarithm "
            "of the target",
            see="squared-loss-outliers",
        )
    return None


TARGET_OUTLIERS = Check(
    illness="target-outliers",
    looks_at="outliers of the target",
    find=find_target_outliers,
    targets={"real"},
    reads_inputs=False,
)
