"""Occlusion of a run: what is hidden, and how far the answer falls."""

from pathlib import Path

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.inspection.attribution.occlusion import Occlusion
from netwright.recipes.views.attribution.occlusion import OCCLUSION
from netwright.recipes.views.subject import Subject
from tests.inspection.untouched import untouched


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def shown(run: nw.Run, **settings: object) -> Occlusion:
    with untouched(run.model):
        view = OCCLUSION.show(Subject(run, *run.data_at_hand()), settings)
    assert isinstance(view, Occlusion)
    return view


def test_a_tree_falls_by_the_features_that_it_asks() -> None:
    run = nw.fit("decision-tree", "iris", max_depth=1, quiet=True)
    view = shown(run)
    asked = [name for name, fall in zip(view.shown.names, view.values, strict=True) if fall]
    assert len(asked) <= 1  # one split, one feature
    assert view.num_parts == 4
    assert view.quantity == "probability"


def test_images_have_patches_of_the_size_that_is_asked_for() -> None:
    run = nw.fit("softmax", "digits", epochs=1, quiet=True)
    assert shown(run, patch=8).num_parts == 1
    assert shown(run).num_parts == 49  # a seventh of 8 pixels is 2, half over each other


def test_symbols_have_nothing_to_hide_behind() -> None:
    run = nw.fit("elman", "parity", n=40, hidden=2, embedding=2, epochs=1, quiet=True)
    sentence = "^occlusion replaces tokens by the unknown token, these symbols have none$"
    with pytest.raises(ConfigError, match=sentence):
        shown(run)
