"""The views that a model measures itself: the entry takes them, or refuses in one sentence."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.models.memory.discrete_memory import DiscreteMemory


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> nw.Run:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    pictures: Any = rng.random((40, 1, 6, 6)).astype("float32"), np.arange(40) % 2
    return nw.fit("hopfield", pictures, quiet=True)


@pytest.mark.usefixtures("undrawn")
def test_a_model_has_views_of_its_own_and_the_report_shows_them(
    tmp_path: Path, memory: nw.Run
) -> None:
    own = {"recalled-patterns", "energy-descent"}
    views = memory.views()
    assert own <= views.keys()
    page = memory.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert ">Inside</h2>" in page
    assert all(f"<h3>{views[name].title}</h3>" in page for name in own)
    bare = memory.report(tmp_path / "bare.html", examples=False).read_text(encoding="utf-8")
    assert views["recalled-patterns"].title not in bare


def test_other_views_do_not_ask_the_model_for_its_own(
    memory: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DiscreteMemory, "own_views", lambda *_: pytest.fail("it was asked"))
    assert nw.inspect(memory, "confusion").caption


def test_a_model_without_the_view_is_refused_with_where_to_find_others(moons_run: nw.Run) -> None:
    sentence = "^mlp has no energy-descent to show; `netwright inspect RUN` lists the views that"
    with pytest.raises(ConfigError, match=sentence):
        nw.inspect(moons_run, "energy-descent")


@pytest.mark.usefixtures("undrawn")
def test_the_lessons_of_an_ensemble_are_shown_by_its_members_and_not_as_a_curve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = nw.fit("bagging", "iris", of="decision-tree", members=2, quiet=True)
    views = run.views()
    assert "curves" not in views
    assert "ensemble-members" in views
    page = run.report(tmp_path / "page.html").read_text(encoding="utf-8")
    learning = page.partition(">Learning</h2>")[2].partition(">Predictions</h2>")[0]
    assert "<h3>Ensemble and its members</h3>" in learning
    assert page.count("<h3>Ensemble and its members</h3>") == 1
