"""Training rows that stand there more than once, and equal inputs that are said to be different.

Rows that are equal by chance, as in a table of a few categories, are no copies.

Shapes: N rows.
"""

import numpy as np
from numpy.typing import NDArray

from netwright.core.finding import Finding
from netwright.data.checkup.check import Check
from netwright.data.checkup.coincidence import beyond_chance
from netwright.data.checkup.origin import Origin
from netwright.data.checkup.row_digests import row_digests
from netwright.data.checkup.wording import share
from netwright.data.dataset import Data

MOST_COPIES = 0.05  # share of the training rows that may be copies of another
MOST_CONFLICTS = 0.01  # share that may have an equal row of another class
LEAST_ROWS = 3


def find_duplicates(data: Data, origin: Origin) -> Finding | None:
    """Copies beyond a share, or equal inputs of different classes beyond a smaller one."""
    digests = row_digests(data.train)
    _, firsts, groups = np.unique(digests, return_index=True, return_inverse=True)
    is_copy = np.ones(len(digests), dtype=bool)
    is_copy[firsts] = False
    copies, conflicts = np.flatnonzero(is_copy).tolist(), _conflicting(data, groups)
    many = len(copies) >= max(LEAST_ROWS, MOST_COPIES * len(digests))
    contradicted = len(conflicts) >= max(LEAST_ROWS, MOST_CONFLICTS * len(digests))
    if not (many or contradicted) or not beyond_chance(len(copies) / len(digests), data):
        return None
    sentence = f"{share(len(copies), len(digests))} training rows are duplicates"
    sentence += origin.places(data, data.train, copies)
    fix = "Remove the duplicates, or keep them if they are real repeats: each one adds weight"
    see = origin.see("minibatch-variance")
    if contradicted:
        sentence += f"; {len(conflicts):,} rows have a duplicate with a different class"
        sentence += origin.places(data, data.train, conflicts)
        fix = "Decide which class duplicate rows have, and remove the duplicates"
        see = "label-smoothing"
    return Finding(illness="duplicates", sentence=sentence, fix=fix, see=see)


def _conflicting(data: Data, groups: NDArray[np.intp]) -> list[int]:
    """The rows whose group of equal inputs has more than one class."""
    if data.spec.target != "class":
        return []
    classes = data.train.targets.cpu().numpy()
    lowest = np.full(groups.max() + 1, data.spec.num_outputs)
    highest = np.full(groups.max() + 1, -1)
    np.minimum.at(lowest, groups, classes)
    np.maximum.at(highest, groups, classes)
    found: list[int] = np.flatnonzero((lowest != highest)[groups]).tolist()
    return found


DUPLICATES = Check(
    illness="duplicates",
    looks_at="duplicate training rows, and duplicates with different classes",
    find=find_duplicates,
)
