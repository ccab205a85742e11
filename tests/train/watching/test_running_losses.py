"""Losses of a pass by name: means over examples, the same after a state was loaded."""

import pytest
import torch

from netwright.core.errors import RunError
from netwright.data.loading.loader import Batch
from netwright.train.watching.running_losses import RunningLosses

CPU = torch.device("cpu")


def batch(rows: int) -> Batch:
    return Batch(torch.ones(rows, 2), torch.ones(rows), None, torch.arange(rows))


def filled() -> RunningLosses:
    running = RunningLosses(CPU)
    running.add({"a": torch.tensor(1.0), "b": torch.tensor(2.0)}, batch(3), torch.tensor(3.0))
    running.add({"a": torch.tensor(5.0)}, batch(1), torch.tensor(5.0))
    return running


def test_each_is_a_mean_over_the_examples_that_it_was_made_of() -> None:
    assert filled().values() == {"loss": 14 / 4, "a": 2.0, "b": 2.0}
    assert filled().rows == 4


def test_a_state_goes_on_and_several_add_up() -> None:
    running = RunningLosses(CPU)
    running.load_state_dict(filled().state_dict())
    assert running.values() == filled().values()
    running.load_states([filled().state_dict(), filled().state_dict()])
    assert running.rows == 8
    assert running.values() == filled().values()


def test_a_new_pass_knows_nothing() -> None:
    running = filled()
    running.begin()
    with pytest.raises(RunError, match="every batch of the epoch was skipped"):
        running.values()
