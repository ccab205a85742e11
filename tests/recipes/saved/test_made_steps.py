"""How far a run got: from its results, of an older run from its history."""

from typing import Any

from netwright.recipes.saved.made_steps import (
    best_moment,
    best_tile,
    counted,
    length_in_words,
    steps_made,
)
from netwright.train.watching.history import History, Row
from tests.repetition import for_each


class Made:
    def __init__(self, **results: Any) -> None:
        self.results = results
        self.config: dict[str, Any] = {"train": {"epochs": None, "eval_every": None}}
        row = Row(step=7, epoch=0, samples=9, time=0.0, split="train", name="loss", value=1.0)
        self.history = History([row])


def test_steps_are_those_of_the_results_or_of_the_last_row() -> None:
    assert (steps_made(Made(steps=9)), steps_made(Made())) == (9, 7)


@for_each(
    ("results", "epoch", "step"),
    [
        ({"epochs": 3, "best_epoch": 2, "steps": 30, "best_step": 20}, 2, 20),
        ({"epochs": 3, "best_epoch": 2}, 2, None),  # an older run
        ({"epochs": 0, "best_epoch": 0}, None, None),
        ({"epochs": 0, "best_epoch": 0, "steps": 7, "best_step": 7}, None, None),
        ({"epochs": 0, "best_epoch": 0, "steps": 7, "best_step": 4}, 0, 4),  # eval_every
    ],
)
def test_there_is_a_best_moment_where_there_was_a_choice(
    results: dict[str, Any], epoch: int | None, step: int | None
) -> None:
    assert best_moment(Made(**results)) == {"best_epoch": epoch, "best_step": step}


def test_a_run_without_a_whole_epoch_is_told_in_steps() -> None:
    for results in ({}, {"steps": 7, "best_step": 7}):
        cut = Made(epochs=0, best_epoch=0, **results)
        assert length_in_words(cut) == "7 steps of the first epoch"
        assert best_tile(cut) == ("best step", "7", "of 7")


def test_epochs_are_told_where_they_are_the_length() -> None:
    run = Made(epochs=3, best_epoch=2, steps=30, best_step=20)
    assert length_in_words(run) == "30 steps"
    run.config["train"]["epochs"] = 3
    assert length_in_words(run) == "3 epochs"
    assert best_tile(run) == ("best epoch", "2", "of 3")
    assert length_in_words(Made(epochs=1, best_epoch=1), "lesson") == "1 lesson"
    run.config["train"]["eval_every"] = 5
    assert best_tile(run) == ("best step", "20", "of 30")


def test_one_is_no_plural() -> None:
    assert (counted(1, "step"), counted(1200, "step")) == ("1 step", "1,200 steps")
