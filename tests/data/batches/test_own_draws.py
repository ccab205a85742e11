"""Draws of data and draws of training do not change each other."""

import numpy as np
import torch
from numpy.random import mtrand

from netwright.core.seeding import seeded
from netwright.data.batches.own_draws import OwnDraws


def draw() -> tuple[float, float]:
    return float(torch.rand(())), float(np.random.random())


def test_draws_inside_depend_on_the_seed_alone() -> None:
    with seeded(0):
        first = OwnDraws(5)
        with first:
            one = draw()
        draw()
        with first:
            two = draw()
    second = OwnDraws(5)
    with second:
        assert [draw(), draw()] == [one, two]
    with OwnDraws(6):
        assert draw() != one


def test_draws_outside_do_not_see_those_inside() -> None:
    with seeded(3):
        expected = [draw(), draw()]
    with seeded(3):
        found = [draw()]
        with OwnDraws(1):
            draw()
            np.random.seed(7)
        found.append(draw())
    assert found == expected


def test_an_error_inside_leaves_the_generators_outside() -> None:
    with seeded(3):
        before = mtrand.get_bit_generator()
        state = torch.get_rng_state()
        try:
            with OwnDraws(1):
                draw()
                raise KeyError
        except KeyError:
            pass
        assert mtrand.get_bit_generator() is before
        assert torch.equal(torch.get_rng_state(), state)
