"""Looking inside a run by the name of a view."""

from pathlib import Path

import pytest

import netwright as nw
from netwright.core.errors import ConfigError, UnknownNameError


def test_a_run_and_its_folder_show_the_same(moons_run: nw.Run) -> None:
    folder = moons_run.folder
    assert folder is not None
    assert nw.inspect(folder, "confusion") == nw.inspect(moons_run, "confusion")


def test_a_run_tells_what_can_be_seen_of_it(moons_run: nw.Run) -> None:
    shown = nw.inspectable(moons_run)
    assert shown["confusion"] == "Which classes are taken for which."
    assert "residuals" not in shown
    assert "feature-maps" not in shown


def test_the_views_that_a_model_has_of_its_own_are_among_them(tmp_path: Path) -> None:
    run = nw.fit("decision-tree", "iris", out=tmp_path / "tree", quiet=True)
    assert nw.inspectable(run)["feature-importance"] == "Feature importance"
    assert nw.inspect(run, "feature-importance").caption
    with pytest.raises(ConfigError, match=r"unknown setting 'view.example'"):
        nw.inspect(run, "feature-importance", example=1)


def test_an_unknown_view_is_refused_with_the_nearest(moons_run: nw.Run) -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown view 'confusoin'; did you mean 'confusion'"
    ):
        nw.inspect(moons_run, "confusoin")
