"""Memory by kind, counted by hand."""

import torch
from torch import nn

from netwright.train.profiling.held_memory import gradient_bytes, held_bytes
from netwright.train.state import TrainState
from tests.train.toy_runs import toy_data, toy_fit, toy_net, toy_start

WEIGHTS = 4 * (3 * 5 + 5 + 5 * 3 + 3)


def test_before_the_first_update_there_are_only_weights_and_buffers() -> None:
    state = toy_start(toy_net(batch_norm=True))
    assert held_bytes(state) == {
        "weights": WEIGHTS + 4 * (5 + 5),
        "buffers": 4 * (5 + 5) + 8,  # mean, variance, and a count of batches
        "optimizer": 0,
    }
    assert gradient_bytes(state) == 0


def test_adam_keeps_two_moments_and_a_count_for_each_weight() -> None:
    state: TrainState = toy_fit(toy_net(), toy_data(), epochs=1)
    assert held_bytes(state)["optimizer"] == 2 * WEIGHTS + 4 * 4


def test_gradients_are_as_large_as_what_they_are_of() -> None:
    state = toy_start()
    for weight in state.model.parameters():
        weight.grad = torch.zeros_like(weight)
    assert gradient_bytes(state) == WEIGHTS


def test_a_weight_that_two_layers_share_is_held_once() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    net[1].weight = net[0].weight
    assert held_bytes(toy_start(net))["weights"] == 4 * (9 + 3 + 3)
