"""Noise is a pure function of the seed and the path, normal, and in the shapes that are wanted."""

import torch

from netwright.train.noise import noise_like, stream_on

CPU = torch.device("cpu")


def draw(*path: object, seed: int = 0) -> torch.Tensor:
    return noise_like([torch.zeros(4)], stream_on(CPU, seed, *path))[0]


def test_the_same_path_draws_the_same_and_another_draws_anew() -> None:
    assert torch.equal(draw("weights", 3), draw("weights", 3))
    others = [draw("weights", 4), draw("inputs", 3), draw("weights", 3, seed=1)]
    assert not any(torch.equal(draw("weights", 3), other) for other in others)


def test_the_callers_generator_is_left_alone() -> None:
    before = torch.get_rng_state()
    draw("weights", 0)
    assert torch.equal(torch.get_rng_state(), before)


def test_shapes_and_formats_are_those_of_the_tensors_and_no_number_comes_twice() -> None:
    tensors = [torch.zeros(200, 100).double(), torch.zeros(()).double(), torch.zeros(50).double()]
    noise = noise_like(tensors, stream_on(CPU, 0, "x"))
    assert [part.shape for part in noise] == [part.shape for part in tensors]
    assert all(part.dtype == torch.float64 for part in noise)
    assert len({number for part in noise for number in part.flatten().tolist()}) == 20_051
    assert abs(noise[0].mean().item()) < 4 / 20_000**0.5
    assert abs(noise[0].std().item() - 1) < 4 / 40_000**0.5
