"""Rows to choose by or to report on whose equals were learned from: memory is measured there.

Rows that are equal by chance, as in a table of a few categories, have not leaked.

Shapes: N rows.
"""

import numpy as np

from netwright.core.finding import Finding
from netwright.data.checkup.check import Check
from netwright.data.checkup.coincidence import beyond_chance
from netwright.data.checkup.origin import Origin
from netwright.data.checkup.row_digests import row_digests
from netwright.data.checkup.wording import share
from netwright.data.dataset import Data

LEAST_SHARE = 0.01  # of the rows of a split: a few equal rows are in most real data
LEAST_ROWS = 3


def find_split_leakage(data: Data, origin: Origin) -> Finding | None:
    """The splits with rows whose inputs stand, number for number, in train too."""
    learned = row_digests(data.train)
    told = []
    for name, split in data.splits():
        if name == "train":
            continue
        rows = np.flatnonzero(np.isin(row_digests(split), learned)).tolist()
        is_much = len(rows) >= max(LEAST_ROWS, LEAST_SHARE * len(split))
        if is_much and beyond_chance(len(rows) / len(split), data):
            places = origin.places(data, split, rows)
            told.append(f"{share(len(rows), len(split))} {name} rows{places}")
    if not told:
        return None
    fix = "Remove duplicate rows before splitting"
    if origin.takes("split_column"):
        fix += (
            ", or assign all copies of a row to the same split in a column named by "
            "data.split_column"
        )
    return Finding(
        illness="split-leakage",
        sentence=f"{' and '.join(told)} have inputs that also occur in train: they do not measure "
        f"generalisation",
        fix=fix,
        see=origin.see("early-stopping"),
    )


SPLIT_LEAKAGE = Check(
    illness="split-leakage",
    looks_at="val and test rows whose inputs also occur in train",
    find=find_split_leakage,
)
