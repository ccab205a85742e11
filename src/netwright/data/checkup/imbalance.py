"""Classes of which there are far fewer examples than of others: accuracy hardly sees them.

Shapes: N rows, C classes.
"""

import torch

from netwright.core.finding import Finding
from netwright.data.checkup.check import Check
from netwright.data.checkup.origin import Origin
from netwright.data.checkup.single_rows import LEAST_ROWS
from netwright.data.checkup.wording import first_few
from netwright.data.dataset import Data

MOST_TIMES = 10  # so many times as often as the rarest class may the commonest one be


def class_counts(data: Data) -> list[int]:
    """The training rows of each class (C,), or the pixels."""
    targets, classes = data.train.targets.flatten().long(), len(data.spec.class_names)
    counts: list[int] = torch.bincount(targets, minlength=classes).tolist()
    return counts


def rare_classes(data: Data, counts: list[int]) -> list[int]:
    """Those with less than a tenth of the rows of the commonest, the rarest first.

    A class of one row or none is told of by itself, in `single_rows.py`.
    """
    least = LEAST_ROWS if data.spec.target == "class" else 0
    order = sorted(range(len(counts)), key=counts.__getitem__)
    return [place for place in order if least <= counts[place] < max(counts) / MOST_TIMES]


def find_imbalance(data: Data, origin: Origin) -> Finding | None:
    """The classes that are rarer than a tenth of the commonest, in the training rows."""
    names, counts = data.spec.class_names, class_counts(data)
    most, rare = max(counts), rare_classes(data, counts)
    if not rare:
        return None
    total, one = sum(counts), "pixel" if data.spec.target == "mask" else "training row"
    shares = [f"{names[place]!r} {counts[place] / total:.2%}" for place in rare]
    common = repr(names[counts.index(most)])
    return Finding(
        illness="imbalance",
        sentence=f"{len(rare)} of {len(names)} classes {'stand' if len(rare) > 1 else 'stands'} in "
        f"few {one}s: {first_few(shares)}; always predicting {common} is right in "
        f"{most / total:.1%}",
        fix="Use balanced_accuracy, not accuracy; for a network, --set train.class_weight=balanced",
        see="balanced_accuracy",
    )


IMBALANCE = Check(
    illness="imbalance",
    looks_at="class balance",
    find=find_imbalance,
    targets={"class", "mask"},
    reads_inputs=False,
)
