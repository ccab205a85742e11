"""Networks for exclusive or: exact outputs, and descent that is that of autograd."""

import pytest
import torch
from torch import nn

from netwright.theory.neurons.xor_networks import (
    CORNERS,
    XOR,
    affine_maps,
    near_solution,
    random_networks,
    trained_answers,
    two_unit_network,
)


def test_two_units_give_the_table_exactly() -> None:
    assert two_unit_network("relu")(CORNERS)[:, 0].tolist() == [0, 1, 1, 0]
    assert two_unit_network("identity")(CORNERS)[:, 0].tolist() != [0, 1, 1, 0]


def test_side_by_side_descent_is_that_of_each_network_alone() -> None:
    models = random_networks(3, 4, seed=0)
    together = trained_answers(models, lr=0.5, steps=20)
    x, y = (2 * CORNERS - 1).float(), XOR[:, None].float()
    for model, answers in zip(models, together, strict=True):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        logits = torch.zeros(4, 1)
        for _ in range(20):
            logits = model(x)
            optimizer.zero_grad()
            loss = nn.functional.binary_cross_entropy_with_logits(logits, y)
            torch.autograd.backward(loss)
            optimizer.step()
        torch.testing.assert_close(answers, logits[:, 0].detach(), rtol=0, atol=1e-5)


def test_networks_are_drawn_by_the_seed() -> None:
    first, again, other = (random_networks(2, 1, seed)[0] for seed in (0, 0, 1))
    assert torch.equal(affine_maps(first)[0].weight, affine_maps(again)[0].weight)
    assert not torch.equal(affine_maps(first)[0].weight, affine_maps(other)[0].weight)


@pytest.mark.parametrize("width", [2, 8])
def test_a_start_near_the_solution_finds_it(width: int) -> None:
    models = [near_solution(model) for model in random_networks(width, 10, seed=0)]
    answers = trained_answers(models, lr=0.5, steps=300)
    assert torch.equal(answers > 0, (XOR > 0).expand(10, 4))
