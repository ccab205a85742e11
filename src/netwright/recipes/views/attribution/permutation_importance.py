"""The permutation importance of a run on a table."""

from dataclasses import dataclass
from itertools import chain
from typing import Annotated

from annotated_types import Le
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.inspection.attribution.permutation_importance import (
    PREDICTIONS,
    PermutationImportance,
    measure_permutation_importance,
)
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.refusals import only_of
from netwright.recipes.views.subject import Subject

FEWEST_ROWS = 2  # one row shuffled is the same row
MOST_COLUMNS = 500
MOST_PREDICTIONS = 200_000
NUMBERS_READ = 2 * 10**10  # of the model, by all predictions: some seconds of a CPU


@dataclass(frozen=True, kw_only=True)
class PermutationConfig(Config):
    """Settings of the permutation importance."""

    repeats: Annotated[Size, Le(100), Doc("how often each column is shuffled")] = 5


def _refusal(subject: Subject) -> str:
    spec = subject.run.spec
    if spec.inputs != "features" or spec.groups_of_features[-1] == 0:
        return "permutation importance is for tables of two columns or more"
    columns = spec.groups_of_features[-1] + 1
    if columns > MOST_COLUMNS:  # as of a bag of words; each is asked about again
        return f"permutation importance is for at most {MOST_COLUMNS} columns, there are {columns}"
    if len(subject.targets) < FEWEST_ROWS:
        return "permutation importance needs two rows or more"
    return only_of("permutation importance is", "class", "real")(subject)


def _measure(subject: Subject, settings: PermutationConfig) -> PermutationImportance:
    inputs: Tensor = subject.inputs
    return measure_permutation_importance(
        subject.predict,
        inputs,
        subject.targets,
        subject.run.spec,
        weights=subject.split.weights,
        repeats=settings.repeats,
        predictions=affordable_predictions(subject.run.model),
    )


def affordable_predictions(model: nn.Module) -> int:
    """How many predictions a report waits for: the more, the fewer numbers the model holds.

    Columns that count little are told from none by thousands of rows, not by hundreds.
    """
    held = sum(tensor.numel() for tensor in chain(model.parameters(), model.buffers()))
    return min(max(PREDICTIONS, NUMBERS_READ // max(held, 1)), MOST_PREDICTIONS)


PERMUTATION_IMPORTANCE = ViewEntry(
    card=Card(
        sentence="How much the loss rises when a column is shuffled; it works for any model.",
        formula=r"\mathrm{importance}_g = L(\pi_g(X), y) - L(X, y)",
        symbols={
            "X, y": "rows and their targets",
            r"\pi_g": "shuffles column g among the rows",
            "L": "the log loss, or the squared error over the variance of y",
        },
        source='Breiman, "Random Forests" (2001)',
    ),
    measure=_measure,
    refusal=_refusal,
    settings=PermutationConfig,
    section="predictions",
    code=(measure_permutation_importance,),
)
