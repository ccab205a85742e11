"""The perceptron rule: a pass by blocks is the plain rule, example after example."""

import pytest
import torch
from torch import Tensor

from netwright.layers.threshold import sign
from netwright.models.neurons.mistake_driven import BLOCK, perceptron_pass


def zeros(rows: int, width: int) -> tuple[Tensor, Tensor]:
    return torch.zeros(rows, width, dtype=torch.float64), torch.zeros(rows, dtype=torch.float64)


def plain_pass(
    weight: Tensor, bias: Tensor, inputs: Tensor, pulls: Tensor, order: Tensor
) -> Tensor:
    """The rule as it is written in books."""
    mistakes = torch.zeros(pulls.shape, dtype=torch.bool)
    for visit, index in enumerate(order.tolist()):
        for row in range(len(bias)):
            pull = pulls[index, row]
            if pull * (weight[row] @ inputs[index].double() + bias[row]) <= 0:
                weight[row] += pull * inputs[index].double()
                bias[row] += pull
                mistakes[visit, row] = True
    return mistakes


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("whole", [True, False])
def test_blocks_are_the_plain_rule(seed: int, whole: bool) -> None:
    numbers = torch.Generator().manual_seed(seed)
    count, width, rows = 3 * BLOCK + 7, 3, 1 + seed % 3
    x = torch.randn(count, width, generator=numbers)
    if whole:  # small whole numbers: scores of exactly zero are common
        x = (2 * x).round()
    pulls = torch.randn(count, rows, generator=numbers, dtype=torch.float64).sign()
    if seed > 3:
        pulls *= torch.randint(1, 4, (count, 1), generator=numbers)
    fast, slow = zeros(rows, width), zeros(rows, width)
    for _ in range(3):
        order = torch.randperm(count, generator=numbers)
        by_blocks = perceptron_pass(*fast, x, pulls, order)
        assert torch.equal(by_blocks, plain_pass(*slow, x, pulls, order))
        torch.testing.assert_close(fast[0], slow[0], rtol=0, atol=1e-9)
        torch.testing.assert_close(fast[1], slow[1], rtol=0, atol=1e-9)


@pytest.mark.covers("sign-function")
def test_at_weights_of_zero_every_point_is_a_mistake() -> None:
    assert sign(torch.zeros(1)).item() == 0
    assert sign(torch.zeros(1), at_zero=1.0).item() == 1
    for point in torch.eye(3):
        for side in (1.0, -1.0):
            weight, bias = zeros(1, 3)
            pulls = torch.tensor([[side]], dtype=torch.float64)
            assert perceptron_pass(weight, bias, point[None], pulls, torch.tensor([0])).all()
            assert weight[0].tolist() == (side * point).tolist()
            assert bias.tolist() == [side]


def test_order_decides_what_is_visited_first() -> None:
    x = torch.tensor([[1.0], [-1.0]])
    pulls = torch.tensor([[1.0], [1.0]], dtype=torch.float64)
    weight, bias = zeros(1, 1)
    assert perceptron_pass(weight, bias, x, pulls, torch.tensor([1, 0])).tolist() == [
        [True],
        [True],
    ]
    assert (weight.item(), bias.item()) == (0.0, 2.0)


@pytest.mark.covers("perceptron-limitations")
def test_rate_changes_nothing_and_the_scale_of_a_feature_does() -> None:
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(60, 2, generator=numbers, dtype=torch.float64)
    signs = (x[:, :1] + x[:, 1:] + 0.3).sign()
    x += 0.1 * signs
    orders = [torch.randperm(60, generator=numbers) for _ in range(3000)]

    def learn(inputs: Tensor, rate: float) -> tuple[Tensor, int]:
        weight, bias = zeros(1, 2)
        seen, updates = [], 0
        for order in orders:
            mistakes = perceptron_pass(weight, bias, inputs, rate * signs, order)
            seen.append(mistakes)
            updates += int(mistakes.sum())
            if not mistakes.any():
                break
        return torch.cat(seen), updates

    plain, updates = learn(x, 1.0)
    assert torch.equal(learn(x, 10.0)[0], plain)
    assert learn(x * torch.tensor([1000.0, 1.0]), 1.0)[1] > 2 * updates
