"""The gradient flow of a run."""

from pathlib import Path

import pytest
import torch

import netwright as nw
from netwright.inspection.training.gradient_flow import GradientFlow
from netwright.recipes.views.subject import Subject
from netwright.recipes.views.training.gradient_flow import GRADIENT_FLOW
from netwright.train.watching.layer_history import LayerHistory
from tests.inspection.untouched import untouched


def test_gradients_are_those_of_the_run_s_loss_and_training_is_shown_beside_them(
    moons_run: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = Subject(moons_run, *moons_run.data_at_hand())
    with untouched(moons_run.model):
        view = GRADIENT_FLOW.show(subject, {"examples": 8})
    assert isinstance(view, GradientFlow)
    batch = subject.batch(8)
    head = moons_run.model.get_parameter("head.weight"), moons_run.model.get_parameter("head.bias")
    loss = moons_run.task.loss(moons_run.model(batch.inputs), batch)
    gradients = torch.autograd.grad(loss, head)
    length = torch.cat([one.flatten() for one in gradients]).norm()
    assert view.layers[-1].weights == pytest.approx(float(length), rel=1e-5)
    assert view.trained is not None
    assert list(view.trained.steps) == moons_run.layer_history.steps
    assert view.trained.norms[0][0] == moons_run.layer_history.rows[0].gradient[0]
    monkeypatch.setattr(moons_run, "layer_history", LayerHistory())
    later = GRADIENT_FLOW.show(subject, {})
    assert isinstance(later, GradientFlow)
    assert later.trained is None


def test_models_with_a_rule_of_their_own_are_refused(tmp_path: Path) -> None:
    run = nw.fit("perceptron", "moons", out=tmp_path / "run", quiet=True)
    assert GRADIENT_FLOW.refusal(Subject(run, None)) == (
        "gradient flow needs a model trained by gradients, perceptron has its own learning rule"
    )
