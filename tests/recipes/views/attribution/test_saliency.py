"""Saliency of a run: by its own score, and refused where there is no gradient."""

from pathlib import Path
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.tokenizer import BOS, EOS
from netwright.inspection.attribution.saliency import Saliency
from netwright.recipes.views.attribution.saliency import SALIENCY
from netwright.recipes.views.subject import Subject
from tests.inspection.untouched import untouched

SMALL: dict[str, Any] = {"layers": 1, "heads": 1, "width": 8, "epochs": 1, "quiet": True}


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


@pytest.mark.parametrize("model", ["t5", "transformer"])
def test_what_is_said_of_a_source_hangs_on_the_vectors_of_the_source(model: str) -> None:
    Path("pairs.tsv").write_text("source\ttarget\n" + "a b c d\tz y x\nd c e a b\ty x\n" * 6)
    run = nw.fit(model, "pairs.tsv", source="source", target="target", device="cpu", **SMALL)
    subject = Subject(run, *run.data_at_hand())
    view = SALIENCY.show(subject, {"answer": "y", "place": 1})
    assert isinstance(view, Saliency)
    pair = subject.example(0).inputs
    assert isinstance(run.preprocessor, PairEncoder)
    score = run.model.eval()(pair)[0, 1, run.preprocessor.target.places["y"]]
    table = run.model.get_parameter("source_embedding.weight")
    (slopes,) = torch.autograd.grad(score, table)
    sizes = slopes[pair[0, : len(view.shown.names)]].norm(dim=1)  # each token stands there once
    assert view.values == pytest.approx(sizes.tolist(), rel=1e-4)


def test_a_text_that_bert_frames_is_shown_with_its_frame() -> None:
    Path("films.tsv").write_text("text\tlabel\n" + "a fine dull film\t1\ndull one\t0\n" * 10)
    run = nw.fit("bert", "films.tsv", text="text", target="label", device="cpu", **SMALL)
    subject = Subject(run, *run.data_at_hand())
    tokens = run.preprocessor.encode(["dull one"])
    subject.split.inputs[0] = tokens[0]
    view = SALIENCY.show(subject, {"answer": "1"})
    assert isinstance(view, Saliency)
    assert view.shown.names == ("[CLS]", "dull", "one", "[SEP]")
    score = run.model.eval()(tokens)[0, 1]
    (slopes,) = torch.autograd.grad(score, run.model.get_parameter("wte.weight"))
    sizes = slopes[[BOS, *tokens[0, :2].tolist(), EOS]].norm(dim=1)  # each stands there once
    assert view.values == pytest.approx(sizes.tolist(), rel=1e-4)


def test_trees_are_refused() -> None:
    run = nw.fit("decision-tree", "iris", quiet=True)
    sentence = "^saliency needs gradients, decision-tree has none; use `occlusion` instead$"
    with pytest.raises(ConfigError, match=sentence):
        SALIENCY.show(Subject(run, *run.data_at_hand()), {})
