"""Batches for looking at: shuffled as in training, all of one size, without end."""

from itertools import islice

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.data.loading.loader import BatchLoader
from netwright.recipes.views.subject import Subject
from netwright.recipes.views.training_batches import training_batches


def test_they_are_the_runs_own_first_batches_and_go_on_after_an_epoch(moons_run: nw.Run) -> None:
    subject, train = Subject(moons_run, *moons_run.data_at_hand()), moons_run.data.train
    rows = len(train) // 2 + 1
    batches = list(islice(training_batches(subject, rows), 3))
    assert [len(batch.inputs) for batch in batches] == [rows] * 3
    own = [next(BatchLoader(train, rows, seed=0).epoch(epoch)) for epoch in range(3)]
    assert all(torch.equal(a.rows.cpu(), b.rows) for a, b in zip(batches, own, strict=True))


def test_more_than_there_are_is_all_and_without_data_none(moons_run: nw.Run) -> None:
    subject = Subject(moons_run, *moons_run.data_at_hand())
    assert len(next(training_batches(subject, 10**6)).inputs) == len(moons_run.data.train)
    with pytest.raises(ConfigError, match="this view needs the run's data: it is gone"):
        next(training_batches(Subject(moons_run, None, "it is gone"), 2))
