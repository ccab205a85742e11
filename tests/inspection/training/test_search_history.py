"""The history of a search: the best so far, by hand."""

import pytest

from netwright.core.errors import DataError
from netwright.inspection.training.search_history import measure_search_history

VALUES = {0: 3.0, 2: 1.0, 1: 2.0, 5: 4.0}


def test_the_best_so_far_never_gets_worse() -> None:
    falling = measure_search_history(VALUES, metric="val/loss", better="lower", pruned=(4, 3))
    assert falling.numbers == (0, 1, 2, 5)
    assert falling.best == (3.0, 2.0, 1.0, 1.0)
    assert falling.pruned == (3, 4)
    rising = measure_search_history(VALUES, metric="val/accuracy", better="higher")
    assert rising.best == (3.0, 3.0, 3.0, 4.0)


def test_caption_names_the_best_trial() -> None:
    view = measure_search_history(VALUES, metric="val/loss", better="lower", pruned=(3,))
    assert view.caption.startswith("The best val/loss, 1, is that of trial 2.")
    assert view.caption.endswith("The tick at the foot is the pruned trial.")
    view = measure_search_history(VALUES, metric="val/loss", better="lower", pruned=(3, 4))
    assert view.caption.endswith("Ticks at the foot are the 2 pruned trials.")


def test_values_far_apart_are_drawn_on_a_logarithmic_axis() -> None:
    near = measure_search_history(VALUES, metric="val/loss", better="lower")
    far = measure_search_history({0: 1.0, 1: 100.0}, metric="val/loss", better="lower")
    below = measure_search_history({0: -1.0, 1: 100.0}, metric="val/r2", better="higher")
    scales = [view.plot().axes[0].get_yscale() for view in (near, far, below)]
    assert scales == ["linear", "log", "linear"]


def test_without_a_complete_trial_there_is_nothing_to_show() -> None:
    with pytest.raises(DataError, match=r"^a history of a search needs a complete trial, got none"):
        measure_search_history({}, metric="val/loss", better="lower")
