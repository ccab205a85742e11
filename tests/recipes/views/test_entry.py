"""A row of the table of views: what it is measured on, and what it refuses."""

from dataclasses import dataclass
from typing import Annotated

import pytest

import netwright as nw
from netwright.core.card import Card
from netwright.core.config import Config, Count, Doc
from netwright.core.errors import ConfigError
from netwright.inspection.dataset.class_balance import measure_class_balance
from netwright.inspection.drawing.view import View
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.subject import Subject

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
