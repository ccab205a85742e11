"""Rare classes that a model finds or does not, by hand."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.data.dataset import Data
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.missed_classes import LEAST_ROWS, find_missed_classes
from netwright.recipes.fitting.prepared import Prepared
from tests.data.checkup.rows import data_of, numbered

RARE = 200  # rows are numbered: those from here on are of the rare class


class Knows(nn.Module):
    """Says the second class from a number on."""

    def __init__(self, first: float) -> None:
        super().__init__()
        self.first, self.weight = first, nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        score = x[:, 0] - self.first + 0.5 + self.weight
        return torch.stack([-score, score], dim=1)


def rows(*, test: int) -> Data:
    classes = [0] * RARE + [1] * 10
    held_out = (numbered(test, RARE), [1] * test) if test else None
    return data_of((numbered(len(classes)), classes), held_out)


def prepared(first: float, data: Data, **settings: Any) -> Prepared:
    return prepare(Knows(first), data, device="cpu", **settings)


def test_a_class_that_is_never_said_is_told_with_its_share_and_rows() -> None:
    found = find_missed_classes(prepared(1e6, rows(test=6)), "test")
    assert found is not None
    assert found.illness == "imbalance"
    assert found.sentence == (
        "rare classes are missed, which accuracy hardly shows; recall per class: 'b' (4.76% of "
        "the training rows) 0 of 6"
    )
    assert "class_weight=balanced" in found.fix


def test_a_class_that_is_found_is_in_good_health() -> None:
    assert find_missed_classes(prepared(RARE, rows(test=6)), "test") is None
    assert find_missed_classes(prepared(RARE + 4, rows(test=6)), "test") is None  # 2 of 6


@pytest.mark.parametrize("test", [0, LEAST_ROWS - 1])
def test_where_few_rows_are_measured_training_rows_count_too(test: int) -> None:
    data = rows(test=test)
    found = find_missed_classes(prepared(1e6, data), "test" if test else "train")
    assert found is not None
    assert found.sentence.endswith(f" 0 of {10 + test}")


def test_weights_that_were_given_are_not_advised_again() -> None:
    weighed = prepared(1e6, rows(test=6), class_weight="balanced")
    found = find_missed_classes(weighed, "test")
    assert found is not None
    assert found.fix == "Collect more rows of these classes: class weights were not enough"


def test_classes_of_like_size_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    data = data_of((numbered(20), [0, 1] * 10))
    ill = prepared(1e6, data)
    monkeypatch.setattr(ill.model, "forward", None)  # nothing is asked of the model
    assert find_missed_classes(replace(ill), "train") is None
