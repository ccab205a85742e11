"""The summary of a run: from a real batch, or from a blank input where its data is gone."""

import netwright as nw
from netwright.recipes.views.inside.summary import SUMMARY
from netwright.recipes.views.subject import Subject


def test_the_layers_are_the_same_without_the_data(moons_run: nw.Run) -> None:
    real = SUMMARY.show(Subject(moons_run, *moons_run.data_at_hand()), {})
    assert real == SUMMARY.show(Subject(moons_run, None, "it is gone"), {})
