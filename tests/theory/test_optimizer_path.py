"""The path of an optimizer: a closed form, options, and a start that is left alone."""

import torch

from netwright.theory.optimizer_path import optimizer_path


def test_a_path_of_plain_descent_is_a_power_of_one_minus_rate_times_curvature() -> None:
    curvatures = torch.tensor([1.0, 3.0, 9.0], dtype=torch.float64)
    start = torch.tensor([2.0, -1.0, 0.5], dtype=torch.float64)
    path = optimizer_path("sgd", lambda x: curvatures * x, start, lr=0.2, steps=20)
    powers = (1 - 0.2 * curvatures) ** torch.arange(21)[:, None]
    assert torch.allclose(path, powers * start, rtol=0, atol=1e-12)


def test_a_path_hands_options_on_and_leaves_the_start_alone() -> None:
    start = torch.zeros(1)
    path = optimizer_path("momentum", lambda _: torch.ones(1), start, lr=1.0, steps=2, momentum=0.5)
    assert path.flatten().tolist() == [0.0, -1.0, -2.5]
    assert start.item() == 0.0
