"""The gradient norms of a run: those that its layer history holds, and no curve without one."""

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.recipes.views.subject import Subject
from netwright.recipes.views.training.gradient_norms import GRADIENT_NORMS
from netwright.train.watching.layer_history import LayerHistory


def test_they_are_those_that_were_watched(moons_run: nw.Run) -> None:
    watched = moons_run.layer_history
    view = GRADIENT_NORMS.show(Subject(moons_run, None), {}).to_json()
    assert view["steps"] == watched.steps
    assert view["whole"] == pytest.approx([row.whole_gradient for row in watched])
    assert view["layers"] == list(watched.layers)


def test_the_report_shows_them_after_the_curves(moons_run: nw.Run) -> None:
    assert list(moons_run.views())[:2] == ["curves", "gradient-norms"]


def test_a_run_that_was_watched_at_one_step_has_no_curve(
    moons_run: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = moons_run.layer_history
    monkeypatch.setattr(moons_run, "layer_history", LayerHistory(watched.layers, watched.rows[:1]))
    with pytest.raises(ConfigError, match=r"2 steps or more .* watched, this run has 1$"):
        nw.inspect(moons_run, "gradient-norms")
