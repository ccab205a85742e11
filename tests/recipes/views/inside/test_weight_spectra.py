"""The weight spectra of a run."""

import pytest
from torch import nn

import netwright as nw
from netwright.recipes.views.inside.weight_spectra import WEIGHT_SPECTRA
from netwright.recipes.views.subject import Subject


def test_the_matrices_of_a_run_are_shown_without_its_data(moons_run: nw.Run) -> None:
    view = WEIGHT_SPECTRA.show(Subject(moons_run, None), {})
    shapes = [(one["name"], one["shape"]) for one in view.to_json()["matrices"]]
    assert shapes == [("hidden.0.0.weight", [16, 2]), ("head.weight", [2, 16])]


def test_single_rows_and_models_without_layers_are_refused(
    moons_run: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moons_run, "model", nn.Linear(2, 1))
    assert WEIGHT_SPECTRA.refusal(Subject(moons_run, None)) == (
        "singular values need matrices, this model's weights are single rows or columns"
    )
    monkeypatch.setattr(moons_run, "model", nn.Flatten())
    assert WEIGHT_SPECTRA.refusal(Subject(moons_run, None)).startswith("this view needs weight")
