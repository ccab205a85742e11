"""What a pass costs, and that counting leaves a model as it is."""

import pytest
import torch
from torch import nn

from netwright.recipes.views.cost import CALL_SECONDS, FLOP_SECONDS, Cost, measure_cost
from tests.train.toy_runs import copy_of


def test_a_dense_layer_is_two_operations_a_weight() -> None:
    model = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5)).train()
    cost = measure_cost(model, torch.zeros(1, 3))
    assert cost.flops == 2 * 3 * 5
    assert cost.weights == 3 * 5 + 5 + 2 * 5
    assert 2 <= cost.calls <= 5  # a transpose, a product, a normalisation
    assert model.training
    assert torch.equal(copy_of(model)["1.running_var"], torch.ones(5))
    assert not model._forward_hooks


def test_more_layers_are_more_calls_and_tied_outputs_are_counted_too() -> None:
    table = nn.Embedding(4, 3)
    one, two = nn.Sequential(table), nn.Sequential(table, nn.Linear(3, 3), nn.Tanh())
    tokens = torch.zeros(1, 2, dtype=torch.int64)
    assert measure_cost(one, tokens).calls < measure_cost(two, tokens).calls


def test_seconds_grow_with_rows_and_rows_are_what_fits() -> None:
    cost = Cost(calls=100, flops=4000, weights=0)
    assert cost.seconds(50) == pytest.approx(100 * CALL_SECONDS + 50 * 4000 * FLOP_SECONDS)
    assert cost.rows_within(cost.seconds(50) + 1e-9) == 50
    assert cost.rows_within(0.0) == 0
    assert Cost(calls=0, flops=0, weights=0).rows_within(1.0) > 10**6


def test_weights_cost_too_where_they_are_moved() -> None:
    light, heavy = (Cost(calls=10, flops=100, weights=count) for count in (0, 10**7))
    assert light.seconds(4) == heavy.seconds(4) == light.placed_seconds(4)
    assert heavy.placed_seconds(4) - light.placed_seconds(4) == pytest.approx(0.05)
    assert light.update_seconds(4) == pytest.approx(3 * light.seconds(4))
    assert heavy.update_seconds(4) - light.update_seconds(4) == pytest.approx(0.1)
