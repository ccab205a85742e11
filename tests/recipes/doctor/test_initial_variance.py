"""Differences between rows on their way through layers, against what theory says of them."""

import math
from typing import Any

import pytest
import torch
from torch import nn

from netwright.core.finding import Finding
from netwright.data.checkup.examination import Unseen
from netwright.recipes.doctor.initial_variance import find_initial_variance, measure_spreads, spread
from netwright.recipes.fitting.fit import prepare

WIDTH = 200
INPUTS = torch.randn(64, WIDTH, generator=torch.Generator().manual_seed(0))


def deep(deviation: float, layers: int = 4, activation: type[nn.Module] = nn.ReLU) -> nn.Module:
    parts: list[nn.Module] = []
    generator = torch.Generator().manual_seed(1)
    for _ in range(layers):
        linear = nn.Linear(WIDTH, WIDTH, bias=False)
        nn.init.normal_(linear.weight, std=deviation, generator=generator)
        parts += [linear, activation()]
    return nn.Sequential(*parts, nn.Linear(WIDTH, 3))


def test_without_a_nonlinearity_the_spread_grows_by_deviation_times_root_width() -> None:
    deviation = 0.1
    spreads = list(measure_spreads(deep(deviation, 3, nn.Identity), INPUTS).values())
    wanted = [spread(INPUTS) * (deviation * math.sqrt(WIDTH)) ** layer for layer in (1, 2, 3)]
    assert spreads[:3] == pytest.approx(wanted, rel=0.1)


def test_he_keeps_the_spread_and_says_nothing() -> None:
    assert find_initial_variance(deep(math.sqrt(2 / WIDTH), 8), INPUTS) is None


@pytest.mark.parametrize(("deviation", "what"), [(1.0, "grow"), (0.01, "shrink")])
def test_weights_that_are_too_large_or_too_small_are_found(deviation: float, what: str) -> None:
    found = find_initial_variance(deep(deviation), INPUTS)
    assert isinstance(found, Finding)
    assert f"differences between examples {what} from" in found.sentence
    assert "over the 4 hidden layers (up to '6')" in found.sentence


def test_one_hidden_layer_has_no_depth() -> None:
    assert find_initial_variance(deep(1.0, 1), INPUTS) == Unseen(
        "1 hidden layer, wanted at least 2"
    )


def test_numbers_that_are_not_finite_are_found() -> None:
    found = find_initial_variance(deep(1e30), INPUTS)
    assert isinstance(found, Finding)
    assert "grow" in found.sentence


@pytest.mark.parametrize(
    ("settings", "fix", "see"),
    [
        ({"activation": "sigmoid"}, "model.initializer=logistic", "logistic-init"),
        ({"initializer": "normal"}, "model.initializer=he-normal", "he-keeps-variance"),
    ],
    ids=["sigmoid", "relu"],
)
def test_the_setting_that_mends_it_is_named_and_does(
    settings: dict[str, Any], fix: str, see: str
) -> None:
    hidden = (32,) * 5
    prepared = prepare("mlp", "digits", hidden=hidden, device="cpu", **settings)
    inputs = prepared.data.train.inputs[:64]
    found = find_initial_variance(prepared.model, inputs)
    assert isinstance(found, Finding)
    assert fix in found.fix
    assert found.see == see
    name = fix.partition("=")[2]
    settings = {**settings, "device": "cpu", "initializer": name}
    mended = prepare("mlp", "digits", hidden=hidden, **settings)
    assert find_initial_variance(mended.model, inputs) is None


def test_batch_norm_is_at_work_dropout_is_not_and_the_model_stays() -> None:
    model = nn.Sequential(
        nn.Linear(WIDTH, WIDTH), nn.BatchNorm1d(WIDTH), nn.Dropout(0.9), nn.Linear(WIDTH, WIDTH)
    )
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    first = measure_spreads(model, INPUTS)
    assert measure_spreads(model, INPUTS) == first
    assert first["3"] == pytest.approx(1 / math.sqrt(3), rel=0.1)  # of inputs of deviation 1
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert all(part.training and not part._forward_hooks for part in model.modules())
