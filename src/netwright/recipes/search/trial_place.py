"""Which one of a search a trial is: its place, from 0.

A trial that was interrupted is made again under another number, but in the same place. What is
drawn for it, and how it is pruned, follow from its place: as if nobody had interrupted it.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

PLACE = "place"  # what it is noted as with a trial


def place_of(trial: "FrozenTrial") -> int:
    """The place of a trial; searches of older versions have only numbers."""
    place: int = trial.user_attrs.get(PLACE, trial.number)
    return place


def next_place(trials: "Iterable[FrozenTrial]") -> int:
    """The place behind all of these."""
    return max(map(place_of, trials), default=-1) + 1
