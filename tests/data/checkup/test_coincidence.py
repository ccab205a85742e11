"""Rows that are equal by chance: as often as their columns' values make them."""

import pandas as pd
import pytest
import torch

import netwright as nw
from netwright.data.checkup.coincidence import beyond_chance, chance_of_equals, mixed
from netwright.data.tables.table import TableConfig, from_frame
from tests.data.checkup.rows import data_of, numbered


def test_mixing_keeps_every_column_and_parts_them() -> None:
    rows = torch.arange(40).reshape(10, 4)
    new = mixed(rows, [1, 2, 1])
    assert torch.equal(new.sort(dim=0).values, rows)
    assert torch.equal(new[:, 1] + 1, new[:, 2])  # they belong together
    assert not torch.equal(new[:, 0] + 1, new[:, 1])


def test_measured_numbers_never_meet_and_a_few_categories_always_do() -> None:
    assert chance_of_equals(nw.data.load("moons")) == 0
    frame = pd.DataFrame({"sex": list("fm") * 60, "place": list("abc") * 40, "y": list("01") * 60})
    data = from_frame(frame, TableConfig(target=("y",)))
    assert chance_of_equals(data) == 1
    assert not beyond_chance(1.0, data)


def test_of_four_pairs_two_of_which_are_there_half_are_met() -> None:
    pairs = torch.randint(2, (400, 1), generator=torch.Generator().manual_seed(0)).expand(-1, 2)
    assert chance_of_equals(data_of((pairs.float(), [0, 1] * 200))) == pytest.approx(0.5, abs=0.1)


def test_rows_that_are_too_large_to_be_mixed_do_not_meet_by_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = data_of((torch.zeros(6, 2), [0, 1] * 3))
    assert chance_of_equals(data) == 1
    monkeypatch.setattr("netwright.data.checkup.coincidence.MOST_NUMBERS", 11)
    assert chance_of_equals(data) == 0


def test_no_row_meets_itself() -> None:
    assert chance_of_equals(data_of((numbered(6), [0, 1] * 3))) == 0
    assert beyond_chance(0.01, data_of((numbered(6), [0, 1] * 3)))


def test_a_single_row_has_no_other_to_be_mixed_with() -> None:
    assert chance_of_equals(data_of((numbered(1), [0]))) == 1
