"""The curves of a run, against what is asked for."""

from typing import cast

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.inspection.training.curves import Curves
from netwright.recipes.views.subject import Subject
from netwright.recipes.views.training.curves import CURVES


def test_curves_are_drawn_against_what_is_asked_for(moons_run: nw.Run) -> None:
    curves = nw.inspect(moons_run, "curves", axis="step")
    assert curves == cast(Curves, moons_run.views()["curves"]).along("step")
    assert "against step." in curves.caption
    sentence = "view.axis must be 'epoch', 'step', 'samples' or 'time', got 'week'"
    with pytest.raises(ConfigError, match=sentence):
        nw.inspect(moons_run, "curves", axis="week")


def test_they_need_no_data(moons_run: nw.Run) -> None:
    assert CURVES.why_not(Subject(moons_run, None, "the run's data x.csv is not here")) == ""
