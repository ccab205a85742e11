"""Plain descent: a network learns, weights count, and chance comes from the seed."""

import pytest
import torch
from torch import nn

from netwright.core.seeding import seeded
from netwright.data.dataset import Split
from netwright.models.neurons.plain_descent import descend


def network() -> nn.Module:
    with seeded(0):
        return nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))


def rings(weights: torch.Tensor | None = None) -> Split:
    x = torch.randn(200, 2, generator=torch.Generator().manual_seed(0))
    return Split(inputs=x, targets=(x.norm(dim=1) > 1.2).long(), weights=weights)


@pytest.mark.slow
def test_a_network_learns_what_no_line_can() -> None:
    model = network().eval()
    descend(model, rings(), epochs=60, seed=0)
    assert not model.training  # as it was
    right = model(rings().inputs).argmax(dim=1) == rings().targets
    assert float(right.double().mean()) > 0.9


def test_seed_alone_decides() -> None:
    found = []
    for state, seed in ((1, 5), (2, 5), (1, 6)):
        model = network()
        with seeded(state):
            descend(model, rings(), epochs=2, seed=seed)
        found.append(model[0].weight.detach())  # type: ignore[index]
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_weight_of_zero_is_as_if_the_example_were_wrong_in_vain() -> None:
    weights = torch.ones(200)
    weights[100:] = 0.0
    data = rings(weights)
    data.targets[100:] = 1 - data.targets[100:]
    model = network()
    descend(model.eval(), data, epochs=60, seed=0)
    right = model(data.inputs[:100]).argmax(dim=1) == data.targets[:100]
    assert float(right.double().mean()) > 0.9
