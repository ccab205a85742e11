"""Mixup: convex blends of two examples, whose targets are probabilities."""

import re

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.data.augment.mixing import Partners, draw_partners
from netwright.data.augment.mixup import MIXUP
from tests.data.augment.test_mixing import batch, stream


def test_a_blend_by_hand() -> None:
    partners = Partners(torch.tensor([1, 0]), torch.tensor([0.75, 0.5]))
    assert partners.mix(torch.tensor([[0.0, 8.0], [4.0, 0.0]])).tolist() == [[1, 6], [2, 4]]
    assert partners.mix(torch.tensor([4.0, 8.0])).tolist() == [5, 6]


def test_targets_are_probabilities_and_inputs_convex() -> None:
    plain = batch(weights=True)
    assert plain.weights is not None
    mixed = MIXUP.mix(plain, 1.0, stream(), 5)
    places, shares = draw_partners(plain.inputs, 1.0, stream())
    assert torch.allclose(mixed.targets.sum(dim=1), torch.ones(64))
    assert (mixed.targets.shape, mixed.targets.dtype) == ((64, 5), torch.float32)
    for one in range(64):
        other, share = int(places[one]), float(shares[one])
        wanted = share * plain.inputs[one] + (1 - share) * plain.inputs[other]
        assert torch.allclose(mixed.inputs[one], wanted, atol=1e-6)
        parts = share * plain.weights[one], (1 - share) * plain.weights[other]
        probabilities = torch.zeros(5)
        probabilities[plain.targets[one]] += parts[0] / sum(parts)
        probabilities[plain.targets[other]] += parts[1] / sum(parts)
        assert torch.allclose(mixed.targets[one], probabilities, atol=1e-5)
    assert mixed.weights is not None
    assert torch.allclose(mixed.weights, partners_mean(plain.weights, places, shares))
    assert torch.equal(mixed.rows, plain.rows)


def partners_mean(values: torch.Tensor, places: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
    return shares * values + (1 - shares) * values[places]


def test_a_strength_so_small_that_nothing_is_mixed_is_refused() -> None:
    MIXUP.check("mixup", 0.01, (1, 4, 4))
    sentence = "the strength of augmentation 'mixup' must be at least 0.01, got 0.009"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        MIXUP.check("mixup", 0.009, (1, 4, 4))
    with pytest.raises(ConfigError, match=r"must be at least 0.01, got nan$"):
        MIXUP.check("mixup", float("nan"), (1, 4, 4))
