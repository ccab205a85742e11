"""The views of a report one by one: the same numbers, and a sentence where there is none."""

from typing import cast

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.inspection.training.curves import Curves
from netwright.recipes.views.catalog import VIEWS
from netwright.recipes.views.entry import Subject


def test_each_is_the_view_of_the_report(moons_run: nw.Run) -> None:
    views = moons_run.views()
    subject = Subject(moons_run, *moons_run.data_at_hand())
    for name, view in views.items():
        assert VIEWS.load(name).show(subject, {}).to_json() == view.to_json()


def test_a_view_that_the_run_does_not_have_is_refused_with_those_it_has(moons_run: nw.Run) -> None:
    sentence = "^this run has no residuals; its report shows curves, confusion, calibration"
    with pytest.raises(ConfigError, match=sentence):
        nw.inspect(moons_run, "residuals")


def test_without_the_data_it_says_why(moons_run: nw.Run) -> None:
    subject = Subject(moons_run, None, "the run's data x.csv is not here")
    entry = VIEWS.load("confusion")
    assert (
        entry.refusal(subject) == "confusion needs the run's data: the run's data x.csv is not here"
    )
    assert VIEWS.load("curves").why_not(subject) == ""


def test_curves_are_drawn_against_what_is_asked_for(moons_run: nw.Run) -> None:
    curves = nw.inspect(moons_run, "curves", axis="step")
    assert curves == cast(Curves, moons_run.views()["curves"]).along("step")
    assert "against step." in curves.caption
    sentence = "view.axis must be 'epoch', 'step', 'samples' or 'time', got 'week'"
    with pytest.raises(ConfigError, match=sentence):
        nw.inspect(moons_run, "curves", axis="week")
