"""The entry of the curvature: which examples it takes, of which runs, and whom it refuses."""

from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.inspection.training.curvature import Curvature
from netwright.recipes.views.cost import measure_cost
from netwright.recipes.views.subject import Subject
from netwright.recipes.views.training.curvature import CURVATURE, MOST_ROWS, SECONDS


def subject_of(run: nw.Run) -> Subject:
    return Subject(run, *run.data_at_hand())


def shown(run: nw.Run, **settings: int) -> Curvature:
    view = CURVATURE.show(subject_of(run), settings)
    assert isinstance(view, Curvature)
    return view


def test_it_is_of_training_examples(moons_run: nw.Run) -> None:
    view = shown(moons_run)
    assert (view.rows, view.is_whole) == (MOST_ROWS, True)
    assert view.weights == moons_run.results["parameters"]
    assert (view.lr, view.optimizer) == (0.001, "adam")
    batch = subject_of(moons_run).batch(MOST_ROWS, split="train")
    loss = moons_run.task.loss(moons_run.model(batch.inputs), batch)
    assert view.step.loss == pytest.approx(loss.item())
    assert shown(moons_run, rows=7).rows == 7


SMALL: dict[str, dict[str, Any]] = {
    "gpt": {"width": 16, "layers": 1, "heads": 2},
    "lstm": {"hidden": 16},  # it packs texts of several lengths
}


@pytest.mark.parametrize("model", list(SMALL))
def test_attention_and_recurrent_layers_have_second_derivatives(model: str, tmp_path: Path) -> None:
    out = tmp_path / model
    nw.fit(model, "parity", n=200, out=out, max_steps=2, quiet=True, **SMALL[model])
    view = shown(nw.open_run(out), steps=6)
    assert (view.rows, len(view.values)) == (MOST_ROWS, 6)
    assert view.values[0] < 0 < view.values[-1]


def test_examples_that_cost_much_are_fewer(
    moons_run: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    cost = measure_cost(moons_run.model, subject_of(moons_run).batch(1).inputs)
    assert cost.rows_within(SECONDS) > MOST_ROWS
    for seconds, rows in ((cost.seconds(5) + 1e-9, 5), (0.0, 1)):
        monkeypatch.setattr("netwright.recipes.views.training.curvature.SECONDS", seconds)
        assert shown(moons_run).rows == rows


REFUSALS = {
    "least-squares": "curvature needs a model trained by gradients, least-squares is not",
    "restarts": "curvature is for a single model, restarts has several",
}


@pytest.mark.parametrize("model", list(REFUSALS))
def test_models_that_do_not_learn_by_gradients_are_refused(model: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"members": 2, "epochs": 1} if model == "restarts" else {}
    run = nw.fit(model, "diabetes", out=tmp_path / model, quiet=True, **settings)
    with pytest.raises(ConfigError) as refusal:
        shown(run)
    assert str(refusal.value) == REFUSALS[model]
