"""Rows to choose by or to report on that were also learned from: what is measured there is memory.

Shapes: N rows.
"""

import numpy as np

from netwright.core.finding import Finding
from netwright.data.checkup.check import Check, first_few, share
from netwright.data.checkup.row_digests import row_digests
from netwright.data.dataset import Data

LEAST_SHARE = 0.01  # of the rows of a split: a few equal rows are in most real data
LEAST_ROWS = 3


def find_split_leakage(data: Data) -> Finding | None:
    """The splits with rows whose inputs stand, number for number, in train too."""
    learned = row_digests(data.train)
    told = []
    for name, split in data.splits():
        if name == "train":
            continue
        rows = np.flatnonzero(np.isin(row_digests(split), learned))
        if len(rows) >= max(LEAST_ROWS, LEAST_SHARE * len(split)):
            told.append(
                f"{share(len(rows), len(split))} {name} rows (row {first_few(rows.tolist())})"
            )
    if not told:
        return None
    return Finding(
        illness="split-leakage",
        sentence=f"{' and '.join(told)} also stand in train: what is measured there is memory",
        fix="Take equal rows out before the rows are divided, or give all copies of a row the "
        "same part in a column that --set data.split_column names",
        see="early-stopping",
    )


SPLIT_LEAKAGE = Check(
    illness="split-leakage",
    looks_at="val and test rows that stand in train too",
    find=find_split_leakage,
)
