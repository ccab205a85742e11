"""Noise on gradients: its size, its variance at rest, and that the step alone decides on it."""

from collections.abc import Iterable

import pytest
import torch
from torch import Tensor, nn

from netwright.train.callbacks.gradient_noise import GradientNoise
from netwright.train.engines.engine import Engine
from netwright.train.state import TrainState
from tests.train.toy_runs import assert_same, copy_of, toy_data, toy_fit, toy_net, toy_start


class Bowl(nn.Module):
    """Many weights at the bottom of h w^2 / 2, each by itself."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(count))


def descend(state: TrainState, noise: GradientNoise, curvature: float) -> None:
    (weight,) = state.model.parameters()
    weight.grad = curvature * weight.detach()
    noise.on_before_update(state)
    state.optimizer.step()
    state.step += 1


@pytest.mark.covers("gradient-noise")
def test_the_variance_at_rest_is_that_of_the_formula() -> None:
    sigma, rate, h = 0.3, 0.4, 1.5
    model = Bowl(40_000)
    state = toy_start(model, optimizer="sgd", lr=rate)
    noise = GradientNoise(sigma, seed=0)
    for _ in range(40):  # (1 - 0.6)^80 of the start is left
        descend(state, noise, h)
    wanted = rate * sigma**2 / (2 * h - rate * h**2)
    assert model.weight.var().item() == pytest.approx(wanted, rel=0.05)


def test_each_update_has_noise_of_its_own_that_the_step_decides() -> None:
    state = toy_start(Bowl(1000), optimizer="sgd", lr=1.0)
    (weight,) = state.model.parameters()
    draws = []
    for step in (3, 4, 3):
        weight.grad, state.step = torch.zeros(1000), step
        GradientNoise(0.5, seed=1).on_before_update(state)
        draws.append(weight.grad)
    assert torch.equal(draws[0], draws[2])
    assert not torch.equal(draws[0], draws[1])
    assert draws[0].std().item() == pytest.approx(0.5, rel=0.1)


class LastRows(Engine):
    """As the second of two ranks that share rows."""

    def rows(self, count: int) -> slice:
        return slice(count // 2, count)

    def own(self, tensors: Iterable[Tensor]) -> list[Tensor]:
        return [tensor[self.rows(len(tensor))] for tensor in tensors]


@pytest.mark.parametrize(("engine", "padding"), [(Engine, 4), (LastRows, 4), (LastRows, 1)])
def test_a_row_of_an_embedding_that_rests_gets_no_noise(engine: type[Engine], padding: int) -> None:
    def noisy(padding: int | None) -> Tensor:
        state = toy_start(nn.Embedding(6, 3, padding_idx=padding), optimizer="sgd", lr=1.0)
        (weight,) = state.model.parameters()
        weight.grad, state.engine = torch.ones(6, 3), engine()
        GradientNoise(0.5, seed=1).on_before_update(state)
        return weight.grad

    resting, usual = noisy(padding), noisy(None)
    others = [row for row in range(6) if row != padding]
    assert torch.equal(resting[padding], torch.ones(3))
    assert torch.equal(resting[others], usual[others])  # the draws of others are the same
    assert (usual[4] != 1).all()


def test_without_noise_it_is_the_same_training() -> None:
    noisy, quiet, plain = toy_net(), toy_net(), toy_net()
    toy_fit(noisy, toy_data(), gradient_noise=0.1)
    toy_fit(quiet, toy_data(), gradient_noise=0.0)
    toy_fit(plain, toy_data())
    assert_same(copy_of(quiet), copy_of(plain))
    assert not torch.equal(copy_of(noisy)["0.weight"], copy_of(plain)["0.weight"])
