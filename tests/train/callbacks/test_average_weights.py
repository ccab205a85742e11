"""The run's average sees the weights of every update, after L1 has made its zeros."""

import pytest
import torch

from netwright.train.callback import Callback
from netwright.train.callbacks import average_weights
from netwright.train.callbacks.average_weights import AverageWeights
from netwright.train.state import TrainState
from tests.train.toy_runs import assert_same, toy_data, toy_fit, toy_net, toy_start


def test_a_run_without_an_average_is_left_alone() -> None:
    state = toy_start()
    before = {name: one.clone() for name, one in state.model.state_dict().items()}
    AverageWeights().on_step_end(state)
    assert state.average is None
    assert all(torch.equal(one, before[name]) for name, one in state.model.state_dict().items())


class Count(Callback):
    """Counts the updates, as the user's callbacks see them."""

    def __init__(self) -> None:
        self.updates = 0

    def on_step_end(self, state: TrainState) -> None:
        self.updates += 1


def test_every_update_counts_and_counts_once() -> None:
    net, seen = toy_net(), Count()
    state = toy_fit(
        net, toy_data(), l1=0.1, average="exponential", average_decay=0.0, callbacks=[seen]
    )
    assert state.average is not None
    assert state.average.count == seen.updates == 15  # with decay 0 the average is the last
    assert torch.equal(state.average.mean["0.weight"], state.training_weights()["0.weight"])


def averaging(bad: torch.Tensor | None) -> tuple[TrainState, AverageWeights, list[int]]:
    """A run with an average, whose optimizer may be told to leave updates out; who was asked."""
    state, call, asked = toy_start(average="exponential"), AverageWeights(), list[int]()
    state.confirm = lambda: asked.append(state.step)
    if bad is not None:
        state.optimizer.found_inf = bad  # type: ignore[attr-defined]
    call.on_epoch_start(state)
    return state, call, asked


def make_step(state: TrainState, call: AverageWeights) -> dict[str, torch.Tensor]:
    """Move the weights, and give the mean with them."""
    assert state.average is not None
    state.step += 1
    with torch.no_grad():
        for weight in state.model.parameters():
            weight.add_(1.0)
    call.on_step_end(state)
    return {name: mean.clone() for name, mean in state.average.mean.items()}


def test_an_update_that_the_device_leaves_out_is_no_part_of_the_mean() -> None:
    bad = torch.zeros(())
    state, call, asked = averaging(bad)
    make_step(state, call)
    good = make_step(state, call)
    bad.fill_(1.0)
    assert_same(make_step(state, call), good)
    bad.zero_()
    assert not torch.equal(make_step(state, call)["0.weight"], good["0.weight"])
    assert asked == []


@pytest.mark.parametrize("is_told", [True, False])
def test_where_the_mean_cannot_be_undone_the_update_is_confirmed_first(
    monkeypatch: pytest.MonkeyPatch, is_told: bool
) -> None:
    monkeypatch.setattr(average_weights, "MOST_HELD", 10)
    state, call, asked = averaging(torch.zeros(()) if is_told else None)
    make_step(state, call)
    assert asked == [1]


def test_a_mean_that_was_restored_is_what_is_held() -> None:
    bad = torch.zeros(())
    state, call, _ = averaging(bad)
    make_step(state, call)
    assert state.average is not None
    for mean in state.average.mean.values():
        mean.fill_(7.0)
    call.on_epoch_start(state)
    bad.fill_(1.0)
    assert bool((make_step(state, call)["0.weight"] == 7.0).all())
