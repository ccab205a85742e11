"""A check: which kinds of data it is for."""

import numpy as np

from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.checkup.check import Check
from netwright.data.checkup.imbalance import IMBALANCE
from netwright.data.checkup.label_noise import LABEL_NOISE
from tests.data.checkup.rows import data_of, numbered

NONE_HELD_OUT = ArraysConfig(val_size=0, test_size=0)


def test_a_check_says_which_kinds_it_is_for() -> None:
    assert LABEL_NOISE.scope == "features or image inputs and class targets"
    assert IMBALANCE.scope == "class or mask targets"
    assert Check(illness="x", looks_at="x", find=lambda data, origin: None).scope == ""


def test_a_check_that_names_no_kinds_is_for_all() -> None:
    every = Check(illness="x", looks_at="x", find=lambda data, origin: None)
    series = from_arrays(np.zeros((4, 3, 2)), np.eye(4, 2, dtype=int), config=NONE_HELD_OUT)
    assert (series.spec.inputs, series.spec.target) == ("series", "labels")
    assert every.is_for(series)
    assert every.is_for(data_of((numbered(4), [0, 1, 0, 1])))


def test_a_check_is_for_the_kinds_that_it_names() -> None:
    data = data_of((numbered(4), [0, 1, 0, 1]))
    assert IMBALANCE.is_for(data)
    only_images = Check(illness="x", looks_at="x", find=lambda data, origin: None, inputs={"image"})
    only_reals = Check(illness="x", looks_at="x", find=lambda data, origin: None, targets={"real"})
    assert not only_images.is_for(data)
    assert not only_reals.is_for(data)
