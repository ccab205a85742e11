"""Dense memories: the energy falls, the square is Hebb, and steeper energies hold more."""

import pytest
import torch
from torch import Tensor

from netwright.models.memory.dense_energy import dense_energy, dense_sweep, gain
from netwright.models.memory.hopfield_dynamics import asynchronous_sweep
from netwright.models.memory.hopfield_weights import hebbian_weights
from tests.repetition import for_each


def random_signs(*shape: int, seed: int = 0) -> Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return 2.0 * torch.randint(2, shape, generator=numbers, dtype=torch.float64) - 1


def noisy(patterns: Tensor, share: float) -> Tensor:
    draws = torch.rand(patterns.shape, generator=torch.Generator().manual_seed(5))
    return torch.where(draws < share, -patterns, patterns)


def test_energy_by_hand() -> None:
    patterns = torch.tensor([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, -1.0, -1.0]])
    state = torch.tensor([[1.0, 1.0, 1.0, -1.0]])  # overlaps 2 and 2, of 4
    assert float(dense_energy(state, patterns, 3)) == pytest.approx(-2 / 8)
    assert float(dense_energy(state, patterns, None)) == pytest.approx(-2 - 0.6931472)


@for_each("power", [2, 3, 4, None])
def test_each_unit_goes_to_the_side_of_the_lower_energy(power: int | None) -> None:
    patterns, states = random_signs(6, 15), random_signs(10, 15, seed=1)
    for unit in range(15):
        moved = dense_sweep(states, patterns, power, torch.tensor([unit]))
        up, down = states.clone(), states.clone()
        up[:, unit], down[:, unit] = 1.0, -1.0
        gap = dense_energy(down, patterns, power) - dense_energy(up, patterns, power)
        decided = gap.abs() > 1e-9
        assert decided.sum() > 5
        assert torch.equal(moved[decided, unit], gap[decided].sign())
        states = moved


def test_the_square_is_the_hebbian_network() -> None:
    patterns, states = random_signs(8, 40), random_signs(20, 40, seed=1)
    hebb = asynchronous_sweep(states, hebbian_weights(patterns))
    assert torch.equal(dense_sweep(states, patterns, 2), hebb)


@pytest.mark.covers("dense-associative-memory")
def test_the_cube_holds_twice_as_many_patterns_as_units_and_the_square_none() -> None:
    patterns = random_signs(200, 100)
    start = noisy(patterns, 0.05)
    shares = {
        power: (dense_sweep(start, patterns, power) == patterns).all(dim=1).double().mean()
        for power in (2, 3)
    }
    assert shares[3] >= 0.95
    assert shares[2] == 0


@pytest.mark.covers("exponential-hopfield")
def test_the_exponential_holds_ten_times_as_many_patterns_as_units() -> None:
    patterns = random_signs(200, 20)
    held = (dense_sweep(patterns, patterns, None) == patterns).all(dim=1)
    hebb = (dense_sweep(patterns, patterns, 2) == patterns).all(dim=1)
    assert held.double().mean() >= 0.95
    assert not hebb.any()


@pytest.mark.parametrize("power", [50, None])
def test_large_overlaps_do_not_overflow(power: int | None) -> None:
    patterns = random_signs(5, 2000).float()
    assert torch.equal(dense_sweep(noisy(patterns, 0.2), patterns, power), patterns)


@pytest.mark.parametrize("power", [2, 3, 4])
def test_a_unit_that_no_overlap_moves_goes_up(power: int) -> None:
    assert gain(torch.zeros(2, 3), power).isfinite().all()
    patterns = torch.tensor([[1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]])
    state = torch.tensor([[-1.0, 1.0, -1.0]])  # without its first unit both overlaps are 0
    moved = dense_sweep(state, patterns, power, torch.tensor([0]))
    assert moved.tolist() == [[1.0, 1.0, -1.0]]
