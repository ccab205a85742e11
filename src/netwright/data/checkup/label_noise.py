"""Labels that the nearest neighbours contradict where these are surest: a hint at wrong labels.

Overlapping classes also have neighbours that disagree, but at their borders; wrong labels stand
everywhere, also where neighbours agree with each other. So the quarter of the rows of each class is
looked at whose neighbours are surest: there overlap leaves few contradictions, and noise its share.

Shapes: N rows, K neighbours, C classes.
Source: Northcutt, Jiang and Chuang, "Confident Learning" (2021), section 3.1 (a threshold a class).
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.finding import Finding
from netwright.data.checkup.check import Check, first_few, share
from netwright.data.dataset import Data
from netwright.data.stored import evenly_spaced

NEIGHBOURS = 15
MOST_ROWS = 3000  # that are looked at: all pairs of them are compared
LEAST_ROWS = 100  # fewer tell nothing
SUREST = 0.75  # quantile of the votes from which on a class's rows are the surest
MOST_WRONG = 0.2  # share of all rows that neighbours contradict; beyond, they know too little
LEAST_NOISE = 0.03  # share of the surest rows
LEAST_COUNT = 5  # rows that are surely contradicted
LEAST_RATIO = 0.6  # of the surest rows' share to that of all: at borders alone it is smaller


class Contradictions(NamedTuple):
    """Which rows their neighbours contradict (N,), and which have the surest neighbours (N,)."""

    wrong: Tensor
    surest: Tensor


def contradictions(inputs: Tensor, classes: Tensor, num_classes: int) -> Contradictions:
    """Let the nearest neighbours of each row vote on its class, without the row itself."""
    rows = inputs.flatten(1).float()
    distances = torch.cdist(rows, rows).fill_diagonal_(torch.inf)
    nearest = distances.topk(NEIGHBOURS, largest=False).indices  # (N, K)
    votes = functional.one_hot(classes[nearest], num_classes).sum(dim=1)  # (N, C)
    most, said = votes.max(dim=1)
    surest = torch.zeros(len(rows), dtype=torch.bool)
    for one in torch.unique(said):
        of_class = said == one
        threshold = torch.quantile(most[of_class].float(), SUREST, interpolation="lower")
        surest |= of_class & (most >= threshold)
    return Contradictions(said != classes, surest)


def find_label_noise(data: Data) -> Finding | None:
    """The share of labels that seem wrong, where it is too large to be overlap."""
    rows = evenly_spaced(len(data.train), MOST_ROWS)
    if len(rows) < LEAST_ROWS:
        return None
    inputs = data.train.read(rows.to(data.train.targets.device)).cpu()
    classes = data.train.targets.cpu()[rows]
    wrong, surest = contradictions(inputs, classes, data.spec.num_outputs)
    everywhere, sure = float(wrong.float().mean()), float(wrong[surest].float().mean())
    suspects = rows[wrong & surest]
    is_noise = everywhere <= MOST_WRONG and sure >= max(LEAST_NOISE, LEAST_RATIO * everywhere)
    if len(suspects) < LEAST_COUNT or not is_noise:
        return None
    some = share(len(suspects), int(surest.sum()))
    return Finding(
        illness="label-noise",
        sentence=f"about {sure:.0%} of the labels may be wrong: {some} training rows whose "
        "neighbours agree best have another class than these (row "
        f"{first_few(suspects.tolist())})",
        fix="Look at these rows and mend their labels; if you cannot, give "
        "--set train.label_smoothing=0.1",
        see="label-noise",
    )


LABEL_NOISE = Check(
    illness="label-noise",
    looks_at=f"labels that the {NEIGHBOURS} nearest neighbours contradict "
    f"(at most {MOST_ROWS:,} rows, spread evenly)",
    find=find_label_noise,
    inputs={"features", "image"},
    targets={"class"},
)
