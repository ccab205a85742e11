"""Contrastive divergence: chances against enumeration, and a likelihood that rises."""

import itertools

import pytest
import torch
from torch import Tensor

from netwright.models.memory.contrastive_divergence import (
    Machine,
    contrastive_divergence,
    free_energy,
    hidden_probabilities,
    visible_probabilities,
)
from netwright.models.memory.rbm import RBM


def random_machine(visible: int, hidden: int, spread: float = 1.0) -> Machine:
    numbers = torch.Generator().manual_seed(0)
    return Machine(
        *(
            spread * torch.randn(*shape, generator=numbers, dtype=torch.float64)
            for shape in ((visible, hidden), (visible,), (hidden,))
        )
    )


def all_states(units: int) -> Tensor:
    return torch.tensor(list(itertools.product((0.0, 1.0), repeat=units)), dtype=torch.float64)


def joint(machine: Machine) -> Tensor:
    """exp(-E(v, h)) of all pairs of states, (2^D, 2^U)."""
    v, h = all_states(len(machine.visible_bias)), all_states(len(machine.hidden_bias))
    energies = -(v @ machine.visible_bias)[:, None] - h @ machine.hidden_bias
    return (v @ machine.weights @ h.T - energies).exp()


def test_conditional_chances_are_those_of_the_energy() -> None:
    machine = random_machine(4, 3)
    table, v, h = joint(machine), all_states(4), all_states(3)
    given_v = table @ h / table.sum(dim=1, keepdim=True)
    given_h = table.T @ v / table.sum(dim=0)[:, None]
    torch.testing.assert_close(hidden_probabilities(machine, v), given_v)
    torch.testing.assert_close(visible_probabilities(machine, h), given_h)
    torch.testing.assert_close((-free_energy(machine, v)).exp(), table.sum(dim=1))


def test_one_step_in_the_mean_is_that_of_all_hidden_samples() -> None:
    machine = random_machine(3, 2)
    visible = torch.tensor([[1.0, 0.0, 1.0]], dtype=torch.float64)
    start, samples = hidden_probabilities(machine, visible), all_states(2)
    chances = (start * samples + (1 - start) * (1 - samples)).prod(dim=1)  # of each sample, (4,)
    rebuilt = visible_probabilities(machine, samples)
    hidden = hidden_probabilities(machine, rebuilt)
    expected = Machine(
        weights=visible.T @ start - rebuilt.T @ (chances[:, None] * hidden),
        visible_bias=visible[0] - chances @ rebuilt,
        hidden_bias=start[0] - chances @ hidden,
    )
    many, numbers = visible.expand(100_000, 3), torch.Generator().manual_seed(1)
    found = contrastive_divergence(machine, many, numbers=numbers).direction
    for part, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(part, wanted, rtol=0, atol=0.005)


def chances_of(units: Tensor, states: Tensor) -> Tensor:
    """Of each state (S, U), where units are on with these chances (B, U); (B, S)."""
    on = units[:, None]
    return (on * states + (1 - on) * (1 - states)).prod(dim=2)


def likelihood_gradient(machine: Machine, data: Tensor) -> Machine:
    """Of the mean log-likelihood, with Z from all states."""
    moved = Machine(*(part.clone().requires_grad_() for part in machine))
    log_z = (-free_energy(moved, all_states(data.shape[1]))).logsumexp(dim=0)
    return Machine(*torch.autograd.grad((-free_energy(moved, data)).mean() - log_z, moved))


def mean_direction(machine: Machine, data: Tensor, steps: int, *, sampled: bool) -> Machine:
    """The mean of CD-k over all chains, with sampled visible units or with their probabilities."""
    states = all_states(len(machine.hidden_bias))
    visible = rebuilt = visible_probabilities(machine, states)  # one row a hidden state
    told = torch.eye(len(states), dtype=torch.float64)  # the chance of each row, by hidden state
    if sampled:
        visible = all_states(data.shape[1])
        told = chances_of(rebuilt, visible)
    hidden, start = hidden_probabilities(machine, visible), hidden_probabilities(machine, data)
    at = chances_of(start, states).mean(dim=0)  # the chance of each hidden state
    for _ in range(steps - 1):
        at = at @ told @ chances_of(hidden, states)
    share = (at @ told)[:, None]
    return Machine(
        weights=data.T @ start / len(data) - (share * visible).T @ hidden,
        visible_bias=data.mean(dim=0) - (share * visible).sum(dim=0),
        hidden_bias=start.mean(dim=0) - (share * hidden).sum(dim=0),
    )


def largest_gap(found: Machine, wanted: Machine) -> float:
    return max(float((a - b).abs().max()) for a, b in zip(found, wanted, strict=True))


def test_visible_probabilities_stay_off_the_gradient_and_samples_come_to_it() -> None:
    machine, data = random_machine(4, 3), all_states(4)[[3, 5]]
    gradient = likelihood_gradient(machine, data)

    def off(steps: int, *, sampled: bool) -> float:
        return largest_gap(mean_direction(machine, data, steps, sampled=sampled), gradient)

    steps = (1, 2, 10, 100)
    probabilities = [off(k, sampled=False) for k in steps]
    assert probabilities == pytest.approx([0.142, 0.0677, 0.0450, 0.0450], abs=1e-4)
    samples = [off(k, sampled=True) for k in steps]
    assert samples[:2] == pytest.approx([0.104, 0.0234], abs=2e-4)
    assert samples[2] < 1e-6
    assert samples[3] < 1e-12
    # What is computed is the mean with probabilities, and not the one with samples.
    many, numbers = data.repeat(50_000, 1), torch.Generator().manual_seed(1)
    found = contrastive_divergence(machine, many, numbers=numbers, gibbs_steps=5).direction
    wanted, other = (mean_direction(machine, data, 5, sampled=sampled) for sampled in (False, True))
    assert largest_gap(found, wanted) < 0.005
    assert largest_gap(found, other) > 0.03


def test_the_cards_say_so() -> None:
    for told in (contrastive_divergence.__doc__, RBM.card.misprint):
        assert told is not None
        assert "0.045" in told
        assert "nothing" in told


def test_equal_weights_change_nothing_and_a_weight_of_zero_takes_an_example_out() -> None:
    machine, data = random_machine(4, 3), all_states(4)[[3, 5]]

    def direction(rows: Tensor, *weights: float) -> Machine:
        shares = torch.tensor(weights, dtype=torch.float64) if weights else None
        numbers = torch.Generator().manual_seed(0)
        return contrastive_divergence(machine, rows, numbers=numbers, weights=shares).direction

    torch.testing.assert_close(direction(data, 2.0, 2.0), direction(data))
    torch.testing.assert_close(direction(data, 1.0, 0.0), direction(data[:1]))


def test_dropped_hidden_units_do_not_learn() -> None:
    machine = random_machine(6, 4)
    data = all_states(6)[40:41]
    direction = contrastive_divergence(
        machine, data, numbers=torch.Generator().manual_seed(0), dropout=0.5
    ).direction
    dropped = (direction.hidden_bias == 0).sum().item()
    assert 0 < dropped < 4
    assert not direction.weights[:, direction.hidden_bias == 0].any()
    assert pytest.approx(0) != direction.weights.abs().sum().item()
