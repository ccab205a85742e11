"""Gradients through depth: the measured ones by hand, and the mean field of known activations."""

import math

import pytest
import torch

from netwright.theory.networks.gradient_depth import (
    build_deep_net,
    factor_per_layer,
    geometric_mean,
    gradient_norms,
    mean_field_norms,
    relative_norms,
)


def test_gradients_of_a_linear_network_are_products_of_its_weights() -> None:
    net = build_deep_net(5, 3, activation="identity", initializer="xavier-normal", seed=0)
    back = net.head.weight.detach()
    found = []
    for layer in reversed(net.hidden):
        found.append(float(back.norm()) * math.sqrt(16))  # the same for each of 16 inputs
        back = back @ layer[0].weight.detach()  # type: ignore[index]
    torch.testing.assert_close(gradient_norms(net, 0).tolist(), found[::-1], rtol=1e-12, atol=0)


def test_norms_are_relative_to_the_last_layer_and_come_from_the_seeds() -> None:
    both = relative_norms(6, 4, activation="tanh", initializer="logistic", seeds=[3, 4])
    assert both.shape == (2, 4)
    assert both[:, -1].tolist() == [1.0, 1.0]
    alone = relative_norms(6, 4, activation="tanh", initializer="logistic", seeds=[4])
    assert torch.equal(alone[0], both[1])


@pytest.mark.parametrize("std", [0.05, 0.1, 0.3])
def test_the_mean_field_of_a_linear_network_is_a_power(std: float) -> None:
    gain = 100 * std**2  # each layer multiplies the squared gradient by n s^2
    expected = [gain ** ((7 - layer) / 2) for layer in range(1, 8)]
    found = mean_field_norms(100, 7, "identity", std)
    assert found.tolist() == pytest.approx(expected, rel=1e-10)


def test_the_mean_field_of_the_sigmoid_agrees_with_an_integral() -> None:
    # n s^2 = 1: z_1 ~ N(0, 1), and E[slope^2] by a fine sum over the normal density.
    z = torch.linspace(-12, 12, 200_001, dtype=torch.float64)
    density = torch.exp(-z.square() / 2) / math.sqrt(2 * math.pi)
    slope = z.sigmoid() * (1 - z.sigmoid())
    expected = math.sqrt(float(torch.trapezoid(slope.square() * density, z)))
    assert mean_field_norms(100, 2, "sigmoid", 0.1)[0].item() == pytest.approx(expected, rel=1e-9)


def test_wide_networks_follow_the_mean_field() -> None:
    norms = relative_norms(300, 6, activation="tanh", initializer="xavier-normal", seeds=range(4))
    factor, (low, high) = geometric_mean(factor_per_layer(norms))
    wanted = factor_per_layer(mean_field_norms(300, 6, "tanh", 300**-0.5)).item()
    assert factor == pytest.approx(wanted, rel=0.03)
    assert low < factor < high


def test_factors_and_means_by_hand() -> None:
    assert factor_per_layer(torch.tensor([[0.25, 0.5, 1.0]])).tolist() == [0.5]
    mean, (low, high) = geometric_mean(torch.tensor([2.0, 8.0]))
    assert mean == pytest.approx(4.0)
    assert low * high == pytest.approx(16.0)
