"""The outcome of a fit is a plain, frozen record."""

from dataclasses import FrozenInstanceError

import pytest

from netwright.recipes.fitting.outcome import Outcome
from netwright.train.watching.history import History


def test_is_frozen_and_ends_well_by_default() -> None:
    outcome = Outcome(history=History(), status="done", epochs=1, best_epoch=1, seconds=0.1)
    assert outcome.exit_code == 0
    with pytest.raises(FrozenInstanceError):
        outcome.status = "x"  # type: ignore[misc]
