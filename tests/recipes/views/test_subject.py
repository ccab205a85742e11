"""A run that is looked at: its examples, and what views share is worked out once."""

import pytest
import torch

import netwright as nw
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.recipes.views.subject import Subject
from netwright.train.evaluate import predict


def subject_of(run: nw.Run) -> Subject:
    return Subject(run, *run.data_at_hand())


def test_a_model_is_called_as_in_the_catalog_or_by_its_class(
    moons_run: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Subject(moons_run, None).name == "mlp"
    monkeypatch.setattr(moons_run, "config", {**moons_run.config, "model": {"name": ""}})
    assert Subject(moons_run, None).name == "MLP"


def test_a_batch_is_spread_over_the_split_of_the_results(moons_run: nw.Run) -> None:
    subject = subject_of(moons_run)
    batch, test = subject.batch(3), moons_run.data.split("test")
    rows = torch.tensor([0, (len(test) - 1) // 2, len(test) - 1])
    assert (batch.rows - rows).abs().max() <= 1
    assert torch.equal(batch.inputs.cpu(), test.inputs[batch.rows])
    assert torch.equal(batch.targets.cpu(), test.targets[batch.rows])
    train = moons_run.data.train
    assert torch.equal(subject.batch(10**6, split="train").inputs.cpu(), train.inputs)


def test_an_example_is_a_batch_of_one(moons_run: nw.Run) -> None:
    one = subject_of(moons_run).example(7)
    assert torch.equal(one.inputs.cpu(), moons_run.data.split("test").inputs[7:8])
    last = len(moons_run.data.split("test")) - 1
    sentence = f"example must be from 0 to {last}, the test rows, got {last + 1}"
    with pytest.raises(ConfigError, match=sentence):
        subject_of(moons_run).example(last + 1)


def test_without_its_data_a_run_has_no_batch(moons_run: nw.Run) -> None:
    with pytest.raises(ConfigError, match=r"^this view needs the run's data: it is gone$"):
        Subject(moons_run, None, "it is gone").batch(1)


def test_predictions_are_those_of_the_split_and_made_once(moons_run: nw.Run) -> None:
    subject, test = subject_of(moons_run), moons_run.data.split("test")
    inputs = test.inputs.to(device_of(moons_run.model))
    assert torch.equal(subject.targets, test.targets.cpu())
    assert torch.allclose(subject.predictions, predict(moons_run.model, inputs, moons_run.task))
    assert subject.predictions is subject.predictions
    assert subject.rows is None  # all of them


def test_images_are_shown_in_the_units_that_they_came_in(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    out = tmp_path_factory.mktemp("runs") / "digits"
    run = nw.fit("softmax", "digits", epochs=1, out=out, quiet=True)
    shown = subject_of(run).inputs_as_shown
    assert float(shown.min()) == pytest.approx(0, abs=1e-5)
    assert shown.shape[1:] == run.spec.input_shape


def test_features_are_shown_as_they_are(moons_run: nw.Run) -> None:
    subject = subject_of(moons_run)
    assert subject.inputs_as_shown is subject.inputs


def test_without_its_data_a_run_has_no_views_of_its_own(moons_run: nw.Run) -> None:
    assert Subject(moons_run, None).own_views == {}
