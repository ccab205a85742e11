"""Rosenblatt's machine: random units that never learn, and what they let a perceptron do."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from netwright.core.seeding import seeded
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec
from netwright.models.neurons.perceptron import Perceptron, PerceptronConfig
from netwright.models.neurons.rosenblatt import Rosenblatt, RosenblattConfig
from netwright.testing.learner_contract import LEARNER_CHECKS
from netwright.testing.model_contract import MODEL_CHECKS
from tests.repetition import for_each

SPEC = DataSpec(inputs="features", input_shape=(2,), target="class", num_outputs=2)
XOR = Split(
    inputs=torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]),
    targets=torch.tensor([0, 1, 1, 0]),
)


def learns_xor(model: Perceptron) -> bool:
    for _ in model.fit_steps(XOR, seed=0):
        pass
    with torch.no_grad():
        return bool((model(XOR.inputs).argmax(dim=1) == XOR.targets).all())


def machine(seed: int, units: int = 20) -> Rosenblatt:
    with seeded(seed):
        return Rosenblatt.build(RosenblattConfig(units=units, epochs=50), SPEC)


@for_each("check", MODEL_CHECKS + LEARNER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_contracts(check: Callable[[Any], None]) -> None:
    spec = DataSpec(inputs="image", input_shape=(1, 2, 3), target="class", num_outputs=3)
    check(lambda: Rosenblatt.build(RosenblattConfig(units=50, epochs=20), spec))


@pytest.mark.slow
@pytest.mark.covers("rosenblatt-mlp")
def test_twenty_random_units_solve_xor_and_none_do_not() -> None:
    assert sum(learns_xor(machine(seed)) for seed in range(200)) >= 180
    assert not learns_xor(Perceptron.build(PerceptronConfig(epochs=50), SPEC))


def test_units_fire_or_do_not_and_never_learn() -> None:
    model = machine(0)
    units = model.unit_weight.clone(), model.unit_bias.clone()
    fired = model.features(XOR.inputs)
    by_hand = (XOR.inputs @ model.unit_weight.T + model.unit_bias > 0).float()
    assert torch.equal(fired, by_hand)
    learns_xor(model)
    assert torch.equal(model.unit_weight, units[0])
    assert torch.equal(model.unit_bias, units[1])
    assert [name for name, _ in model.named_parameters()] == ["scores.weight", "scores.bias"]


def test_units_are_standard_normal() -> None:
    model = machine(0, units=5000)
    drawn = torch.cat((model.unit_weight.flatten(), model.unit_bias))
    assert float(drawn.mean()) == pytest.approx(0, abs=0.03)
    assert float(drawn.std()) == pytest.approx(1, abs=0.03)
