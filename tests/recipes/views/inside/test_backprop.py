"""The stepper of a run: its example, its loss, and what it refuses."""

import re
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.data.loading.loader import Batch
from netwright.inspection.stepper.step_through import StepThrough
from netwright.recipes.views.inside.backprop import BACKPROP
from netwright.recipes.views.subject import Subject


def shown(run: nw.Run, **settings: Any) -> StepThrough:
    view = BACKPROP.show(Subject(run, *run.data_at_hand()), settings)
    assert isinstance(view, StepThrough)
    return view


@pytest.fixture(scope="module")
def run() -> nw.Run:
    return nw.fit("mlp", "iris", hidden=(3,), epochs=1, quiet=True)


def test_the_loss_is_that_of_the_run_on_the_example(run: nw.Run) -> None:
    sample, _ = run.data_at_hand()
    batch: Batch = Subject(run, sample).example(3)
    with torch.no_grad():
        wanted = run.task.loss(run.model.eval()(batch.inputs), batch)
    stepped = shown(run, example=3)
    assert stepped.loss == pytest.approx(wanted.item(), rel=1e-5)
    assert stepped.flagged == () and stepped.disagreement < 1e-12
    assert shown(run, example=4).loss != stepped.loss


def test_an_example_that_is_not_there_is_refused(run: nw.Run) -> None:
    with pytest.raises(
        ConfigError, match=r"^example must be from 0 to \d+, the test rows, got 9999$"
    ):
        shown(run, example=9999)


def test_a_model_without_parameters_is_refused() -> None:
    tree = nw.fit("decision-tree", "iris", quiet=True)
    sentence = "backpropagation needs parameters, decision-tree has none"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        shown(tree)


@pytest.mark.slow
def test_a_sequence_may_be_cut_to_its_first_steps(run: nw.Run) -> None:
    reader = nw.fit("elman", "parity", hidden=2, epochs=1, max_steps=1, quiet=True)
    stepped = shown(reader, steps=3)
    moments = {step.moment for step in stepped.steps if step.moment}
    assert moments == {"t=1", "t=2", "t=3"}
    sentence = "steps is for tokens or series, this run reads features"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        shown(run, steps=3)
