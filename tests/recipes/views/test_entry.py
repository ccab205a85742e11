"""A row of the table of views: what it is measured on, and what it refuses."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import torch

import netwright as nw
from netwright.core.card import Card
from netwright.core.config import Config, Count, Doc
from netwright.core.errors import ConfigError
from netwright.inspection.dataset.class_balance import measure_class_balance
from netwright.inspection.drawing.view import View
from netwright.recipes.views.entry import Subject, ViewEntry

CARD = Card(sentence="The classes.", formula="", source="here")


@dataclass(frozen=True, kw_only=True)
class ExampleConfig(Config):
    """Which example."""

    example: Annotated[Count, Doc("its place")] = 0


def balance(subject: Subject, given: ExampleConfig) -> View:
    targets = subject.example(given.example).targets
    return measure_class_balance({"test": targets}, subject.run.spec.class_names)


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


def test_settings_are_checked_and_a_refusal_is_the_sentence(moons_run: nw.Run) -> None:
    entry = ViewEntry(card=CARD, measure=balance, settings=ExampleConfig)
    assert entry.show(subject_of(moons_run), {"example": "3"}).caption
    with pytest.raises(ConfigError, match=r"unknown setting 'view.exampel'; did you mean"):
        entry.show(subject_of(moons_run), {"exampel": 3})
    with pytest.raises(ConfigError, match=r"view.example must be at least 0, got -1"):
        entry.show(subject_of(moons_run), {"example": -1})
    refusing = ViewEntry(card=CARD, measure=balance, refusal=lambda _: "moons have no face")
    with pytest.raises(ConfigError, match=r"^moons have no face$"):
        refusing.show(subject_of(moons_run), {})
