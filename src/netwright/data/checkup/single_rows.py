"""Classes of one training row, or of none: what the rows of a class have in common is not in them.

Shapes: N rows, C classes.
"""

import torch

from netwright.core.finding import Finding
from netwright.data.checkup.check import Check
from netwright.data.checkup.origin import Origin
from netwright.data.checkup.wording import first_few
from netwright.data.dataset import Data

LEAST_ROWS = 2  # from so many on a class can be compared with itself


def find_single_rows(data: Data, origin: Origin) -> Finding | None:
    """The classes that have fewer than two training rows."""
    names = data.spec.class_names
    counts = torch.bincount(data.train.targets, minlength=len(names)).tolist()
    few = [place for place in range(len(names)) if counts[place] < LEAST_ROWS]
    if not few:
        return None
    told = first_few([f"{names[place]!r} {'one' if counts[place] else 'none'}" for place in few])
    return Finding(
        illness="single-row-class",
        sentence=f"{len(few)} of {len(names)} classes {'have' if len(few) > 1 else 'has'} at most "
        f"one training row ({told}): they can be memorised, but not learned from",
        fix="Collect more rows of such a class, merge it with another, or drop it",
        see="recall",
    )


SINGLE_ROWS = Check(
    illness="single-row-class",
    looks_at="classes with a single training row",
    find=find_single_rows,
    targets={"class"},
    reads_inputs=False,
)
