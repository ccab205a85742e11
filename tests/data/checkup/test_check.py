"""A check: which kinds it is for, and how a sentence names places."""

from netwright.data.checkup.check import Check, first_few, share
from netwright.data.checkup.imbalance import IMBALANCE
from netwright.data.checkup.label_noise import LABEL_NOISE
from tests.data.checkup.rows import data_of, numbered


def test_a_check_says_which_kinds_it_is_for() -> None:
    assert LABEL_NOISE.scope == "features or image inputs and class targets"
    assert IMBALANCE.scope == "class or mask targets"
    assert Check(illness="x", looks_at="x", find=lambda data: None).scope == ""


def test_a_check_is_for_the_kinds_that_it_names() -> None:
    data = data_of((numbered(4), [0, 1, 0, 1]))
    assert IMBALANCE.is_for(data)
    only_images = Check(illness="x", looks_at="x", find=lambda data: None, inputs={"image"})
    only_reals = Check(illness="x", looks_at="x", find=lambda data: None, targets={"real"})
    assert not only_images.is_for(data)
    assert not only_reals.is_for(data)


def test_sentences_name_the_first_places_and_count_the_rest() -> None:
    assert first_few([3, 8]) == "3, 8"
    assert first_few(list(range(7))) == "0, 1, 2, 3, 4 and 2 more"
    assert share(12, 1200) == "12 of 1,200 (1.0%)"
