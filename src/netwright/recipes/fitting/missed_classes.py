"""Rare classes that a trained model does not find: accuracy is high, and F1 is 0.

Shapes: N rows, C classes.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from netwright.core.devices import device_of
from netwright.core.finding import Finding
from netwright.core.trees import move
from netwright.data.checkup.imbalance import class_counts, rare_classes
from netwright.data.checkup.wording import first_few
from netwright.data.dataset import Data
from netwright.data.loading.stored import evenly_spaced
from netwright.recipes.fitting.prepared import Prepared
from netwright.train.evaluate import predict

MOST_FOUND = 0.1  # share of the rows of a class: then it may as well not be there
LEAST_ROWS = 5  # of fewer measured rows it may be chance; then training rows count, too
MOST_ROWS = 256  # of rare classes that the model is asked for
MOST_NUMBERS = 2**22  # of their inputs together: large images are few


def find_missed_classes(prepared: Prepared, split: str) -> Finding | None:
    """The rare classes that the model hardly ever says where they are true.

    Args:
        prepared: with the model that has learned.
        split: the one that is measured.
    """
    data, counts = prepared.data, class_counts(prepared.data)
    rare = rare_classes(data, counts)
    if not rare:
        return None
    found, asked = _recalls(prepared, split, rare)
    missed = [place for place in rare if asked[place] and found[place] <= MOST_FOUND * asked[place]]
    if not missed:
        return None
    names, total = data.spec.class_names, sum(counts)
    told = [
        f"{names[place]!r} ({counts[place] / total:.2%} of the training rows) {found[place]} of "
        f"{asked[place]}"
        for place in missed
    ]
    is_weighed = prepared.recipe.train.class_weight is not None
    return Finding(
        illness="imbalance",
        sentence="rare classes are missed, which accuracy hardly shows; recall per class: "
        f"{first_few(told)}",
        fix="Collect more rows of these classes: class weights were not enough"
        if is_weighed
        else "Weight classes equally: --set train.class_weight=balanced",
        see="balanced_accuracy",
    )


def _recalls(prepared: Prepared, split: str, rare: Sequence[int]) -> tuple[list[int], list[int]]:
    """Rows of each class that the model finds, and rows of it that it was asked for."""
    data, classes = prepared.data, len(prepared.data.spec.class_names)
    found, asked = torch.zeros(2, classes, dtype=torch.int64)
    for name in dict.fromkeys((split, "train")):
        rows = _some_rows(data, name, [place for place in rare if asked[place] < LEAST_ROWS])
        if not len(rows):
            continue
        part = data.split(name)
        targets = part.targets[rows].cpu()
        inputs = move(part.read(rows), device_of(prepared.model))
        said = predict(prepared.model, inputs, prepared.task).argmax(dim=1)
        asked += torch.bincount(targets, minlength=classes)
        found += torch.bincount(targets[said == targets], minlength=classes)
    return found.tolist(), asked.tolist()


def _some_rows(data: Data, split: str, classes: Sequence[int]) -> Tensor:
    """Places of rows of these classes, on the device of the targets; of many some, evenly."""
    targets = data.split(split).targets
    wanted = torch.tensor(classes, dtype=targets.dtype, device=targets.device)
    places = torch.isin(targets, wanted).nonzero().flatten()
    most = max(LEAST_ROWS, min(MOST_ROWS, MOST_NUMBERS // data.spec.num_features))
    return places[evenly_spaced(len(places), most).to(places.device)]
