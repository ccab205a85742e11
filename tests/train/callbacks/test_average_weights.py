"""The run's average sees the weights of every update, after L1 has made its zeros."""

import torch

from netwright.train.callback import Callback
from netwright.train.callbacks.average_weights import AverageWeights
from netwright.train.state import TrainState
from tests.train.toy_runs import toy_data, toy_fit, toy_net, toy_start


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
