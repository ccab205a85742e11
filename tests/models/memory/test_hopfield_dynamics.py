"""The moves of a Hopfield network: fields, energies, sweeps against the rule taken at its word."""

import pytest
import torch
from torch import Tensor

from netwright.models.memory.hopfield_dynamics import (
    asynchronous_sweep,
    energy,
    local_field,
    overlap,
    sign,
    synchronous_update,
)
from netwright.models.memory.hopfield_weights import hebbian_weights
from tests.repetition import for_each


def random_signs(*shape: int, seed: int = 0) -> Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return 2.0 * torch.randint(2, shape, generator=numbers, dtype=torch.float64) - 1


def random_network(n: int, seed: int = 1) -> tuple[Tensor, Tensor]:
    numbers = torch.Generator().manual_seed(seed)
    weights = torch.randn(n, n, generator=numbers, dtype=torch.float64)
    weights = (weights + weights.T).fill_diagonal_(0)
    return weights, torch.randn(n, generator=numbers, dtype=torch.float64)


def test_energy_and_field_by_hand() -> None:
    weights = torch.tensor([[0.0, 2.0], [2.0, 0.0]])
    states, bias = torch.tensor([[1.0, 1.0], [1.0, -1.0]]), torch.tensor([0.5, 0.0])
    assert energy(states, weights).tolist() == [-2.0, 2.0]
    assert energy(states, weights, bias).tolist() == [-1.5, 2.5]
    assert local_field(states, weights, bias).tolist() == [[1.5, 2.0], [-2.5, 2.0]]
    assert synchronous_update(states, weights, bias).tolist() == [[1.0, 1.0], [-1.0, 1.0]]


@pytest.mark.covers("hopfield-effective-field")
def test_field_is_half_the_difference_of_the_energies() -> None:
    (weights, bias), states = random_network(12), random_signs(20, 12)
    fields = local_field(states, weights, bias)
    for unit in range(12):
        up, down = states.clone(), states.clone()
        up[:, unit], down[:, unit] = 1.0, -1.0
        gap = energy(up, weights, bias) - energy(down, weights, bias)
        torch.testing.assert_close(gap, -2 * fields[:, unit], rtol=0, atol=1e-12)


def test_zero_and_what_rounding_leaves_of_it_are_positive() -> None:
    fields = torch.tensor([0.0, -0.0, -1e-15, -1e-6, 3.0], dtype=torch.float64)
    assert sign(fields).tolist() == [1.0, 1.0, 1.0, -1.0, 1.0]


@for_each("n", [7, 70])
@for_each("symmetric", [True, False])
@for_each("ordered", [True, False])
def test_sweep_is_the_rule_taken_at_its_word(n: int, symmetric: bool, ordered: bool) -> None:
    weights, bias = random_network(n)
    if not symmetric:
        weights = weights.triu() - 0.3 * weights.tril()
    states = random_signs(5, n)
    order = None if ordered else torch.randperm(n, generator=torch.Generator().manual_seed(0))
    expected = states.clone()
    for row in expected:
        for unit in range(n) if order is None else order.tolist():
            row[unit] = 1.0 if weights[unit] @ row - bias[unit] >= 0 else -1.0
    kept = states.clone()
    assert torch.equal(asynchronous_sweep(states, weights, bias, order), expected)
    assert torch.equal(states, kept)


@pytest.mark.covers("hopfield-network")
def test_energy_never_rises_and_a_noisy_pattern_is_found_again() -> None:
    (weights, bias), state = random_network(50), random_signs(1, 50)
    units = torch.randint(50, (1000,), generator=torch.Generator().manual_seed(3))
    energies = [energy(state, weights, bias)]
    for unit in torch.split(units, 1):
        state = asynchronous_sweep(state, weights, bias, unit)
        energies.append(energy(state, weights, bias))
    changes = torch.cat(energies).diff()
    assert changes.max() <= 1e-12 and changes.min() < -1
    for _ in range(50):
        state = asynchronous_sweep(state, weights, bias)
    assert torch.equal(asynchronous_sweep(state, weights, bias), state)

    patterns = random_signs(5, 100, seed=2)
    noisy = patterns.clone()
    for row in noisy:
        row[torch.randperm(100, generator=torch.Generator().manual_seed(4))[:15]] *= -1
    stored = hebbian_weights(patterns)
    recalled = asynchronous_sweep(asynchronous_sweep(noisy, stored), stored)
    assert torch.equal(recalled, patterns)


def test_overlap_is_one_zero_or_minus_one() -> None:
    x = torch.tensor([1.0, 1.0, -1.0, -1.0])
    others = torch.stack((x, torch.tensor([1.0, -1.0, 1.0, -1.0]), -x))
    assert overlap(x.expand(3, 4), others).tolist() == [1.0, 0.0, -1.0]
