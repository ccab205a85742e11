"""The restricted Boltzmann machine: contracts, bars and stripes by enumeration, real digits."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.core.seeding import seeded
from netwright.data.bundled import load_digits
from netwright.data.dataset import Split
from netwright.data.files.idx import read_idx
from netwright.data.source import DataConfig
from netwright.data.spec import DataSpec
from netwright.models.memory.contrastive_divergence import Machine, free_energy
from netwright.models.memory.rbm import RBM, RBMConfig
from netwright.testing.learner_contract import LEARNER_CHECKS
from netwright.testing.model_contract import MODEL_CHECKS
from tests.repetition import for_each

SPEC = DataSpec(inputs="features", input_shape=(6,), target="class", num_outputs=3)
MNIST = DataSpec(inputs="image", input_shape=(1, 28, 28), target="class", num_outputs=10)


@for_each("check", MODEL_CHECKS + LEARNER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_contracts(check: Callable[[Any], None]) -> None:
    check(lambda: RBM.build(RBMConfig(units=16, epochs=5), SPEC))


def bars_and_stripes() -> Split:
    """The 30 pictures of 4 x 4 whose rows, or whose columns, are all of one colour."""
    lines = torch.tensor(list(itertools.product((0.0, 1.0), repeat=4)))
    bars = lines[:, None, :, None].expand(16, 1, 4, 4)
    stripes = lines[1:-1, None, None, :].expand(14, 1, 4, 4)  # empty and full are there already
    classes = torch.tensor([0] * 16 + [1] * 14)
    return Split(inputs=torch.cat((bars, stripes)), targets=classes)


IMAGES = DataSpec(inputs="image", input_shape=(1, 4, 4), target="class", num_outputs=2)


def log_likelihood(machine: Machine, data: Tensor) -> float:
    """The mean over the data, with Z from all 2^16 pictures."""
    states = torch.tensor(list(itertools.product((0.0, 1.0), repeat=16)))
    log_z = (-free_energy(machine, states)).logsumexp(dim=0)
    return float((-free_energy(machine, data.flatten(1))).mean() - log_z)


@pytest.mark.slow
@pytest.mark.covers("rbm")
def test_bars_and_stripes_become_likely() -> None:
    data = bars_and_stripes()
    model = RBM.build(RBMConfig(units=16, epochs=200, batch_size=10, readout_steps=1), IMAGES)
    learning = model.fit_steps(data, 0)
    first = next(learning)
    before = log_likelihood(model.machine, data.inputs)
    last = list(learning)[-1]
    assert last["reconstruction_error"] < 0.5 * first["reconstruction_error"]
    assert log_likelihood(model.machine, data.inputs) > before + 1  # nats
    dropping = RBM.build(RBMConfig(units=16, epochs=5, dropout=0.5), IMAGES)
    assert len(list(dropping.fit_steps(data, 0))) == 5


@pytest.mark.slow
def test_with_dropout_the_thinned_machines_become_likely() -> None:
    data = bars_and_stripes()
    config = RBMConfig(units=16, epochs=200, batch_size=10, readout_steps=1, dropout=0.5)
    model = RBM.build(config, IMAGES)
    kept = torch.rand(5, 16, generator=torch.Generator().manual_seed(0)) < 0.5

    def mean_likelihood() -> float:
        machine = model.machine
        thinned = [
            Machine(machine.weights[:, mask], machine.visible_bias, machine.hidden_bias[mask])
            for mask in kept
        ]
        return sum(log_likelihood(part, data.inputs) for part in thinned) / len(thinned)

    learning = model.fit_steps(data, 0)
    next(learning)
    before = mean_likelihood()
    list(learning)
    assert mean_likelihood() > before


def test_inputs_from_0_to_1_stay_and_others_are_squashed() -> None:
    data = bars_and_stripes()
    kept, squashed = (RBM.build(RBMConfig(), IMAGES) for _ in range(2))
    next(kept.fit_steps(data, 0))
    next(squashed.fit_steps(Split(inputs=4 * data.inputs - 2, targets=data.targets), 0))
    assert torch.equal(kept.encode(data.inputs), data.inputs.flatten(1))
    assert torch.equal(squashed.encode(data.inputs), data.inputs.flatten(1).sigmoid())
    opened = RBM.build(RBMConfig(), IMAGES)
    opened.load_state_dict(squashed.state_dict())
    assert torch.equal(opened(data.inputs), squashed(data.inputs))


def test_weighted_examples_decide_the_readout() -> None:
    x = torch.zeros(40, 6)
    y = torch.tensor([0, 1] * 20)
    weights = torch.where(y == 0, 3.0, 1.0)
    model = RBM.build(RBMConfig(units=4, epochs=3), SPEC)
    list(model.fit_steps(Split(inputs=x, targets=y, weights=weights), 0))
    chances = model(x[:1]).softmax(dim=1)[0].tolist()
    assert chances == pytest.approx([0.75, 0.25, 0.0], abs=0.02)


def test_an_example_of_weight_0_is_not_there() -> None:
    data = bars_and_stripes()
    far = Split(
        inputs=torch.cat((torch.full((20, 1, 4, 4), 9.0), data.inputs)),
        targets=torch.cat((torch.zeros(20, dtype=torch.int64), data.targets)),
        weights=torch.cat((torch.zeros(20), torch.ones(30))),
    )
    config = RBMConfig(units=8, epochs=3, batch_size=2)  # small batches: some would weigh 0
    without, beside = (RBM.build(config, IMAGES) for _ in range(2))
    assert list(without.fit_steps(data, 0)) == list(beside.fit_steps(far, 0))
    assert torch.equal(without(data.inputs), beside(data.inputs))


def test_weights_count_in_the_first_biases_and_in_the_error() -> None:
    x = torch.zeros(40, 6)
    x[::2] = 1.0
    weights = torch.where(x[:, 0] == 1, 3.0, 1.0)
    config = RBMConfig(units=4, epochs=1, lr=1e-9, readout_steps=1)
    model = RBM.build(config, SPEC)
    data = Split(inputs=x, targets=torch.zeros(40, dtype=torch.int64), weights=weights)
    (step,) = model.fit_steps(data, 0)
    assert model.visible_bias.sigmoid().tolist() == pytest.approx([0.75] * 6, abs=1e-5)
    by_hand = 0.75 * 0.25**2 + 0.25 * 0.75**2  # each unit is rebuilt as 0.75, but for small weights
    assert step["reconstruction_error"] == pytest.approx(by_hand, rel=0.02)


@pytest.mark.slow
def test_digits_are_read_from_the_features() -> None:
    data = load_digits(DataConfig())
    assert data.test is not None
    with seeded(0):
        model = RBM.build(RBMConfig(epochs=10), data.spec)
    steps = list(model.fit_steps(data.train, 0))
    assert steps[-1]["reconstruction_error"] < 0.6 * steps[0]["reconstruction_error"]
    right = model(data.test.inputs).argmax(dim=1) == data.test.targets
    assert right.float().mean() >= 0.95
    assert list(model.own_views(data.test)) == ["filters"]


def test_a_table_has_no_filters_to_draw() -> None:
    assert RBM.build(RBMConfig(), SPEC).own_views(bars_and_stripes()) == {}


@pytest.mark.slow
@pytest.mark.long  # all of MNIST eight times; of a thousand digits see above
def test_features_of_500_units_beat_the_pixels_on_mnist(real_data: Callable[[str], Path]) -> None:
    def load(part: str) -> Split:
        images = read_idx(real_data(f"mnist/{part}-images-idx3-ubyte.gz"))
        labels = read_idx(real_data(f"mnist/{part}-labels-idx1-ubyte.gz"))
        pixels = torch.from_numpy(images.copy()).float()[:, None] / 255
        return Split(inputs=pixels, targets=torch.from_numpy(labels.copy()).long())

    train, test = load("train"), load("t10k")

    def share_right(model: torch.nn.Module) -> float:
        with torch.no_grad():
            return float((model(test.inputs).argmax(dim=1) == test.targets).float().mean())

    model = RBM.build(RBMConfig(units=500, epochs=8, batch_size=100, lr=0.1), MNIST)
    list(model.fit_steps(train, 0))
    assert share_right(model) >= 0.955
    flat = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 10))
    optimizer = torch.optim.LBFGS(flat.parameters(), max_iter=60, line_search_fn="strong_wolfe")

    def loss() -> float:
        optimizer.zero_grad()
        value = torch.nn.functional.cross_entropy(flat(train.inputs), train.targets)
        torch.autograd.backward(value)
        return float(value.detach())

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    assert 0.90 <= share_right(flat) <= 0.928
