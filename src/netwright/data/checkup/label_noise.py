"""Labels that the nearest neighbours contradict where these are surest: a hint at wrong labels.

Overlapping classes also have neighbours that disagree, but at their borders; wrong labels stand
everywhere, also where neighbours agree with each other. So the quarter of the rows of each class is
looked at whose neighbours are surest: there overlap leaves few contradictions, and noise its share.
Neighbours are believed only if they are wrong clearly less often than the commonest class is.

Shapes: N rows, K neighbours, C classes.
Source: Northcutt, Jiang and Chuang, "Confident Learning" (2021), section 3.1 (a threshold a class).
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.finding import Finding
from netwright.data.checkup.check import Check
from netwright.data.checkup.examination import Answer, Undecided, Unseen
from netwright.data.checkup.origin import Origin
from netwright.data.checkup.wording import counted, first_few, share
from netwright.data.dataset import Data
from netwright.data.loading.stored import evenly_spaced

NEIGHBOURS = 15
MOST_ROWS = 3000  # that are looked at: all pairs of them are compared
LEAST_ROWS = 100  # fewer tell nothing
SUREST = 0.75  # quantile of the votes from which on a class's rows are the surest
MOST_OF_GUESSING = (
    0.65  # share of a guess's mistakes that the vote may make; beyond, it is no judge
)
LEAST_NOISE = 0.03  # share of the surest rows
LEAST_COUNT = 5  # rows that are surely contradicted
SHOWN_COLUMNS = 3  # of a row that has no other name
LEAST_RATIO = 0.6  # of the surest rows' share to that of all: at borders alone it is smaller
CLEAR_RATIO = (0.5, 0.6)  # the same, and what is added to it where the vote is as bad as a guess


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


def find_label_noise(data: Data, origin: Origin) -> Answer:
    """The share of labels that seem wrong, where it is too large to be overlap."""
    rows = evenly_spaced(len(data.train), MOST_ROWS)
    if len(rows) < LEAST_ROWS:
        return Unseen(f"{counted(len(rows), 'training row')}, wanted at least {LEAST_ROWS}")
    if data.spec.feature_levels:
        return Unseen("embedded categories have no distance, and so no nearest neighbours")
    inputs = data.train.read(rows.to(data.train.targets.device)).cpu()
    classes = data.train.targets.cpu()[rows]
    wrong, surest = contradictions(inputs, classes, data.spec.num_outputs)
    everywhere, sure = float(wrong.float().mean()), float(wrong[surest].float().mean())
    guess = 1 - float(torch.bincount(classes).max()) / len(classes)
    suspects = rows[wrong & surest].tolist()
    is_noise = sure >= max(LEAST_NOISE, LEAST_RATIO * everywhere)
    if len(suspects) < LEAST_COUNT or not is_noise:
        return None
    of_guessing, (least, more) = everywhere / guess, CLEAR_RATIO
    if of_guessing > MOST_OF_GUESSING or sure < (least + more * of_guessing) * everywhere:
        return Undecided(
            f"nearest neighbours contradict {everywhere:.0%} of the labels, and the most common "
            f"class contradicts {guess:.0%}: labels may be wrong, or hard to predict"
        )
    return Finding(
        illness="label-noise",
        sentence=f"about {sure:.0%} of the labels may be wrong: "
        f"{share(len(suspects), int(surest.sum()))} training rows with the most consistent "
        f"neighbours have a different class{_which(data, origin, suspects)}",
        fix="Check these rows and fix their labels; if that is impossible, --set "
        "train.label_smoothing=0.1 makes a network more robust",
        see="label-smoothing",
    )


def _which(data: Data, origin: Origin, rows: list[int]) -> str:
    """Where the rows stand in their source; else how the first of them begins."""
    places = origin.places(data, data.train, rows, with_targets=True)
    if places or data.spec.inputs != "features":
        return places
    (first,) = data.preprocessor.decode(data.train.inputs[rows[:1]].cpu())
    cells = [f"{name} {value}" for name, value in first.items()]
    return f" (one of them: {first_few(cells, SHOWN_COLUMNS)})"


LABEL_NOISE = Check(
    illness="label-noise",
    looks_at=f"labels contradicted by their {NEIGHBOURS} nearest neighbours (at most "
    f"{MOST_ROWS:,} evenly spaced rows)",
    find=find_label_noise,
    inputs={"features", "image"},
    targets={"class"},
)
