"""Saliency of a run: by its own score, and refused where there is no gradient."""

from pathlib import Path

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.inspection.attribution.saliency import Saliency
from netwright.recipes.views.attribution.saliency import SALIENCY
from netwright.recipes.views.subject import Subject
from tests.inspection.untouched import untouched


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_linear_run_has_its_weights() -> None:
    run = nw.fit("ridge", "diabetes", device="cpu", quiet=True)
    subject = Subject(run, *run.data_at_hand())
    with untouched(run.model):
        view = SALIENCY.show(subject, {"method": "integrated", "example": 2, "steps": 4})
    assert isinstance(view, Saliency)
    (weights,) = [
        part.weight[0] for part in run.model.modules() if isinstance(part, torch.nn.Linear)
    ]
    inputs = run.data.split("test").inputs[2].cpu()
    mean = run.data.train.inputs.cpu().mean(dim=0)
    expected = (weights * (inputs - mean)).detach()
    torch.testing.assert_close(torch.tensor(view.values), expected, atol=1e-3, rtol=1e-3)


def test_gradients_of_classes_are_of_the_logit(moons_run: nw.Run) -> None:
    subject = Subject(moons_run, *moons_run.data_at_hand())
    view = SALIENCY.show(subject, {"example": 1, "answer": "1"})
    assert isinstance(view, Saliency)
    x = subject.example(1).inputs.requires_grad_()
    moons_run.model.eval()(x)[0, 1].backward()
    assert x.grad is not None
    moons_run.model.zero_grad(set_to_none=True)
    torch.testing.assert_close(torch.tensor(view.values), x.grad[0].abs().cpu())


def test_trees_are_refused() -> None:
    run = nw.fit("decision-tree", "iris", quiet=True)
    sentence = "^saliency needs gradients, decision-tree has none; use `occlusion` instead$"
    with pytest.raises(ConfigError, match=sentence):
        SALIENCY.show(Subject(run, *run.data_at_hand()), {})
