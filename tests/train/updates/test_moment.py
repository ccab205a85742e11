"""A run that stands where a batch stood has all of the host's part as it was then."""

from typing import Any

import pytest
import torch

from netwright.core.trees import map_tensors
from netwright.train.state import TrainState
from netwright.train.updates.moment import Before, Moment
from tests.train.toy_runs import assert_same, toy_data, toy_start, whole_batch


def host_part(state: TrainState) -> Any:
    """All that a batch moves, copied."""
    parts = {
        "groups": state.optimizer.state_dict()["param_groups"],
        "schedule": state.schedule.state_dict(),
        "running": state.running.state_dict(),
        "recent": state.recent.state_dict(),
        "counts": [state.epoch, state.position, state.step, state.samples],
    }
    return map_tensors(torch.clone, parts)


def move(state: TrainState) -> None:
    """What a batch and its update do on the host."""
    batch = state.batch = whole_batch(toy_data().train)
    state.loss = torch.rand(())
    state.position += 1
    with torch.no_grad():
        state.running.add(state.model(batch.inputs), batch, state.loss)
    state.recent.add(state.loss, 1.0)
    state.recent.close()
    state.optimizer.step()
    state.schedule.step()
    state.step += 1
    state.samples += len(batch.rows)


@pytest.fixture
def state() -> TrainState:
    state = toy_start(optimizer="momentum", schedule="cosine", warmup=3)
    move(state)
    return state


@pytest.mark.parametrize("later", [1, 2, 70])  # losses and measures are added up every 64 batches
def test_it_is_put_back_to_before_the_update(state: TrainState, later: int) -> None:
    wanted, before = host_part(state), Before.of(state)
    move(state)
    moment, loss = Moment.of(state, before), state.loss
    for _ in range(later - 1):
        move(state)
    moment.put_back(state)
    wanted["counts"][1] += 1  # the batch is at hand
    assert_same(host_part(state), wanted)
    assert state.loss is loss
    assert moment.place == (0, 2)


def test_one_that_is_passed_over_counts_as_seen_and_its_draws_are_drawn(state: TrainState) -> None:
    wanted, before = host_part(state), Before.of(state)
    move(state)
    moment = Moment.of(state, before, with_draws=True)
    drawn = torch.rand(3)
    move(state)
    moment.pass_over(state)
    wanted["counts"][1] += 1
    wanted["counts"][3] += 20
    assert_same(host_part(state), wanted)
    assert torch.equal(torch.rand(3), drawn)


def test_before_its_update_a_batch_is_not_yet_counted(state: TrainState) -> None:
    state.is_updating = True
    moment = Moment.of(state, Before.of(state))
    assert (moment.step, moment.samples) == (1, 20)
    state.is_updating = False
    moment = Moment.of(state, Before.of(state))
    assert (moment.step, moment.samples, moment.draws) == (0, 0, None)
