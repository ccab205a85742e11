"""The views of classes, labels and tags: the right runs have them, and they show what is so."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.data.dataset import Data, Split
from netwright.data.loading.stored import sample_stored
from netwright.data.spec import IGNORED, DataSpec
from netwright.recipes.views.catalog import VIEWS
from netwright.recipes.views.predictions.classes import CONFUSION
from netwright.recipes.views.subject import Subject
from netwright.train.evaluate import predict


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_labels_have_a_view_of_their_own() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(60, 3))
    labels = (inputs[:, :2] > 0).astype(float)
    run = nw.fit("mlp", (inputs, labels), kind="labels", hidden=(4,), epochs=1, quiet=True)
    names = ["curves", "gradient-norms", "label-errors", "class-balance", "summary"]
    assert list(run.views()) == names


def test_one_feature_has_no_plane() -> None:
    inputs = np.linspace(-1, 1, 60)[:, None]
    run = nw.fit("logistic", (inputs, inputs[:, 0] > 0), epochs=1, quiet=True)
    assert "decision-regions" not in run.views()
    with pytest.raises(ConfigError, match="plane through a table of two features or more"):
        nw.inspect(run, "decision-regions")


def test_the_wrong_examples_are_wrong() -> None:
    run = nw.fit("softmax", "digits", epochs=1, device="cpu", quiet=True)
    split = run.data.split("test")
    said = predict(run.model, split.inputs, run.task).argmax(1)
    shown = run.views()["wrong-examples"].to_json()["mistakes"]
    assert shown
    for example in shown:
        assert said[example["row"]] != split.targets[example["row"]]


def test_without_the_data_it_says_why(moons_run: nw.Run) -> None:
    subject = Subject(moons_run, None, "the run's data x.csv is not here")
    reason = VIEWS.load("confusion").why_not(subject)
    assert reason == "this view needs the run's data: the run's data x.csv is not here"


def test_tags_are_compared_where_there_is_a_word(
    moons_run: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = torch.tensor([[0, 1, IGNORED], [1, IGNORED, IGNORED]])
    split = Split(inputs=torch.ones_like(targets), targets=targets)
    spec = DataSpec(
        inputs="tokens",
        input_shape=(3,),
        target="tags",
        num_outputs=2,
        class_names=("noun", "verb"),
        vocab_size=2,
    )
    data = Data(name="words", spec=spec, train=split, preprocessor=moons_run.preprocessor)
    results: dict[str, Any] = {**moons_run.results, "split": "train"}

    def always_first(_: Subject, inputs: Tensor) -> Tensor:
        return torch.tensor([0.75, 0.25]).expand(*inputs.shape, 2)

    monkeypatch.setattr(moons_run, "spec", spec)
    monkeypatch.setattr(moons_run, "results", results)
    monkeypatch.setattr(Subject, "predict", always_first)
    view = CONFUSION.show(Subject(moons_run, sample_stored(data)), {})
    assert view.to_json()["counts"] == [[1, 0], [2, 0]]
