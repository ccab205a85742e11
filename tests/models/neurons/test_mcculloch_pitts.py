"""The McCulloch-Pitts neuron: gates, every neuron tried, and the gate that none of them is."""

import re
from itertools import product

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec
from netwright.models.neurons.mcculloch_pitts import (
    GATES,
    McCullochPitts,
    McCullochPittsConfig,
    fires,
)
from tests.repetition import for_each

CORNERS = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
TABLES = {
    "AND": [0, 0, 0, 1],
    "OR": [0, 1, 1, 1],
    "NAND": [1, 1, 1, 0],
    "NOR": [1, 0, 0, 0],
}


def spec(width: int, classes: int = 2) -> DataSpec:
    return DataSpec(inputs="features", input_shape=(width,), target="class", num_outputs=classes)


def fitted(data: Split, classes: int = 2, cut: float = 0.5) -> McCullochPitts:
    model = McCullochPitts.build(McCullochPittsConfig(cut=cut), spec(data.inputs.shape[1], classes))
    for _ in model.fit_steps(data, seed=0):
        pass
    return model


@pytest.mark.covers("mcculloch-pitts")
def test_one_neuron_is_every_simple_gate_and_never_exclusive_or() -> None:
    for name, table in TABLES.items():
        synapses, threshold = GATES[name]
        gate = fires(CORNERS, torch.tensor([synapses]).float(), torch.tensor([float(threshold)]))
        assert gate[:, 0].tolist() == table, name
    synapses, threshold = GATES["NOT"]
    inputs = torch.tensor([[0.0], [1.0]])
    gate = fires(inputs, torch.tensor([synapses]).float(), torch.tensor([float(threshold)]))
    assert gate[:, 0].tolist() == [1, 0]
    every = [
        fires(CORNERS, torch.tensor([signs]), torch.tensor([float(threshold)]))[:, 0].tolist()
        for signs in product((1.0, -1.0), repeat=2)
        for threshold in range(-3, 4)
    ]
    assert [0, 1, 1, 0] not in every
    assert TABLES["AND"] in every


@for_each("name", TABLES)
def test_the_best_neuron_is_found(name: str) -> None:
    data = Split(inputs=CORNERS, targets=torch.tensor(TABLES[name]))
    model = fitted(data)
    assert torch.equal(model(CORNERS).argmax(dim=1), data.targets)


def test_of_exclusive_or_it_gets_three_rows() -> None:
    data = Split(inputs=CORNERS, targets=torch.tensor([0, 1, 1, 0]))
    model = McCullochPitts.build(McCullochPittsConfig(), spec(2))
    steps = [step["mistakes"] for step in model.fit_steps(data, seed=0)]
    assert len(steps) == 6  # thresholds from -2 to 3
    assert steps[-1] == 1
    assert steps == sorted(steps, reverse=True)
    assert int((model(CORNERS).argmax(dim=1) == data.targets).sum()) == 3


def test_weights_decide_which_row_is_given_up() -> None:
    for spared in range(4):
        weights = torch.ones(4)
        weights[spared] = 0.1
        targets = torch.tensor([0, 1, 1, 0])
        model = fitted(Split(inputs=CORNERS, targets=targets, weights=weights))
        wrong = model(CORNERS).argmax(dim=1) != targets
        assert wrong.nonzero().flatten().tolist() in ([spared], [])


def test_three_classes_have_a_neuron_each() -> None:
    data = Split(inputs=torch.eye(3), targets=torch.tensor([0, 1, 2]))
    model = fitted(data, classes=3)
    assert model.synapses.shape == (3, 3)
    assert torch.equal(model(data.inputs).argmax(dim=1), data.targets)
    assert not (model(data.inputs) == 0).any()


def test_cut_says_what_is_on() -> None:
    data = Split(inputs=10 * CORNERS - 3, targets=torch.tensor(TABLES["OR"]))
    assert torch.equal(fitted(data, cut=2.0)(data.inputs).argmax(dim=1), data.targets)
    nothing = fitted(data, cut=50.0)(data.inputs).argmax(dim=1)
    assert len(nothing.unique()) == 1


def test_many_inputs_are_refused() -> None:
    sentence = "mcculloch-pitts tries all sign patterns of at most 12 inputs, got 13"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        McCullochPitts.build(McCullochPittsConfig(), spec(13))
