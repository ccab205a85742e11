"""Hints at wrong labels: their share is found, and overlap alone says nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import netwright as nw
from netwright.core.finding import Finding
from netwright.data.checkup.examination import Undecided, Unseen
from netwright.data.checkup.label_noise import LABEL_NOISE, contradictions, find_label_noise
from netwright.data.checkup.origin import Origin
from tests.data.checkup.rows import clouds, data_of
from tests.repetition import for_each


@pytest.mark.parametrize("share", [0.05, 0.1, 0.25])
def test_the_share_of_flipped_labels_is_found(share: float) -> None:
    points, classes = clouds(400, distance=6)
    flipped = torch.arange(400) // 2 % round(1 / share) == 0
    noisy = torch.where(flipped, 1 - classes, classes)
    wrong, surest = contradictions(points, noisy, 2)
    assert float(wrong[surest].float().mean()) == pytest.approx(share, abs=0.06)
    assert float(flipped[wrong & surest].float().mean()) > 0.95
    found = find_label_noise(data_of((points, noisy.tolist())), Origin())
    assert isinstance(found, Finding)
    assert found.sentence.startswith("about ")
    assert " (one of them: x0 " in found.sentence
    assert (found.illness, found.see) == (LABEL_NOISE.illness, "label-smoothing")
    assert found.fix.startswith("Check these rows and fix their labels; if that is impossible, ")


@for_each("seed", range(3))
@for_each("distance", [0, 1, 1.5, 2, 3])
def test_overlapping_classes_are_no_noise(distance: float, seed: int) -> None:
    points, classes = clouds(400, distance, seed=seed)
    answer = find_label_noise(data_of((points, classes.tolist())), Origin())
    assert answer is None or isinstance(answer, Undecided)


@for_each("seed", range(3))
@for_each("distance", [0, 0.5, 1, 2])
@for_each("rare", [0.05, 0.1])
def test_a_rare_class_that_is_hard_to_tell_is_no_noise(
    rare: float, distance: float, seed: int
) -> None:
    chance = torch.Generator().manual_seed(seed)
    classes = (torch.rand(800, generator=chance) < rare).long()
    points = torch.randn(800, 3, generator=chance)
    points[:, 0] += distance * classes
    answer = find_label_noise(data_of((points, classes.tolist())), Origin())
    assert answer is None or isinstance(answer, Undecided)


def test_where_neighbours_hardly_beat_a_guess_nothing_is_decided() -> None:
    points, _ = clouds(400, distance=0)
    classes = torch.rand(400, generator=torch.Generator().manual_seed(1)) < 0.5
    answer = find_label_noise(data_of((points, classes.long().tolist())), Origin())
    assert isinstance(answer, Undecided)
    assert answer.why.endswith("labels may be wrong, or hard to predict")


def test_few_rows_tell_nothing() -> None:
    points, classes = clouds(60, distance=6)
    flipped = torch.where(torch.arange(60) % 5 == 0, 1 - classes, classes)
    assert find_label_noise(data_of((points, flipped.tolist())), Origin()) == Unseen(
        "60 training rows, wanted at least 100"
    )


@for_each("name", ["iris", "wine", "breast-cancer", "digits", "moons", "spirals"])
def test_real_and_curved_classes_are_no_noise(name: str) -> None:
    assert find_label_noise(nw.data.load(name), Origin()) is None


def test_a_row_has_no_vote_on_itself() -> None:
    points, classes = clouds(40, distance=100)
    lonely = classes.clone()
    lonely[0] = 1 - lonely[0]
    wrong, _ = contradictions(points, lonely, 2)
    assert wrong.nonzero().flatten().tolist() == [0]


def test_rare_but_clear_classes_are_no_noise(real_data: Callable[[str], Path]) -> None:
    path = real_data("islr/Default.csv")
    assert (
        find_label_noise(nw.data.load("table", path=str(path), target="default"), Origin()) is None
    )
