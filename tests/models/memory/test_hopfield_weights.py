"""Storage rules: the Hebbian diagonal, fixed points, the projection, and the size of cross-talk."""

import pytest
import torch
from torch import Tensor

from netwright.models.memory.hopfield_dynamics import local_field, synchronous_update
from netwright.models.memory.hopfield_weights import (
    cross_talk,
    hebbian_weights,
    pseudo_inverse_weights,
)


def random_signs(*shape: int, seed: int = 0) -> Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return 2.0 * torch.randint(2, shape, generator=numbers, dtype=torch.float64) - 1


@pytest.mark.covers("hebbian-learning")
def test_hebbian_weights_are_symmetric_without_a_diagonal_and_hold_a_pattern() -> None:
    weights = hebbian_weights(random_signs(4, 30))
    assert torch.equal(weights, weights.T)
    assert not weights.diagonal().any()
    one = random_signs(1, 30)
    for state in (one, -one):
        assert torch.equal(synchronous_update(state, hebbian_weights(one)), state)


def test_hebbian_weights_by_hand() -> None:
    patterns = torch.tensor([[1.0, 1.0, -1.0], [1.0, -1.0, -1.0]])
    expected = torch.tensor([[0.0, 0.0, -2.0], [0.0, 0.0, 0.0], [-2.0, 0.0, 0.0]]) / 3
    torch.testing.assert_close(hebbian_weights(patterns), expected)


def test_pseudo_inverse_holds_patterns_however_alike_they_are() -> None:
    patterns = random_signs(1, 40).repeat(10, 1)
    for row in range(10):
        patterns[row, row] *= -1  # each differs from each in two bits
    weights = pseudo_inverse_weights(patterns)
    torch.testing.assert_close(patterns @ weights, patterns)
    torch.testing.assert_close(weights @ weights, weights)
    assert torch.equal(synchronous_update(patterns, weights), patterns)
    assert not torch.equal(synchronous_update(patterns, hebbian_weights(patterns)), patterns)


def test_patterns_that_span_everything_are_held_too() -> None:
    patterns = random_signs(50, 4)
    assert torch.equal(synchronous_update(patterns, pseudo_inverse_weights(patterns)), patterns)


@pytest.mark.covers("hopfield-crosstalk")
def test_cross_talk_has_the_variance_of_the_load_and_no_bias() -> None:
    patterns = random_signs(50, 500)
    noise = cross_talk(patterns)
    assert noise.var().item() == pytest.approx(0.098, abs=0.01)
    assert (patterns * noise).mean().item() == pytest.approx(0.0, abs=0.01)
    with_diagonal = patterns @ (patterns.T @ patterns) / 500 - patterns
    assert (patterns * with_diagonal).mean().item() == pytest.approx(0.098, abs=0.01)


def test_field_is_the_pattern_and_its_cross_talk() -> None:
    patterns = random_signs(6, 40)
    fields = local_field(patterns, hebbian_weights(patterns))
    torch.testing.assert_close(fields, (1 - 1 / 40) * patterns + cross_talk(patterns))
    by_hand = sum(
        patterns[r, 3] * patterns[r, j] * patterns[2, j]
        for j in range(40)
        for r in range(6)
        if j != 3 and r != 2
    )
    assert float(cross_talk(patterns)[2, 3]) == pytest.approx(float(by_hand) / 40)
