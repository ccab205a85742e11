"""Dividing the rows by a column of the table, or by chance."""

import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.split import hold_out
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.splitting import (
    check_groups_apart,
    divide,
    divide_by_column,
    find_split_column,
    groups_of,
)
from tests.repetition import for_each


def table(*cells: str, name: str = "split") -> RawTable:
    count = len(cells)
    return RawTable(
        name="t.csv", columns={name: list(cells)}, positions=range(count), lines=range(2, 2 + count)
    )


@for_each(
    ("cells", "named", "found"),
    [
        (["train", "Dev", "TEST"], None, "split"),
        (["0", "1", "2"], None, "split"),
        (["train", ""], None, "split"),
        (["left", "right"], None, None),
        (["TRUE", "FALSE"], None, None),
        (["TRUE", "FALSE"], "split", "split"),
        (["", ""], None, None),
    ],
)
def test_split_column_is_found(cells: list[str], named: str | None, found: str | None) -> None:
    assert find_split_column(table(*cells), named) == found


def test_no_column_named_split_divides_nothing() -> None:
    assert find_split_column(table("train", "test", name="part"), None) is None
    with pytest.raises(DataError, match=r"^t\.csv has no column 'prat'; did you mean 'part'\?$"):
        find_split_column(table("train", name="part"), "prat")


@pytest.mark.parametrize(
    ("cells", "rows"),
    [
        ("train val valid validation dev test", [[0], [1, 2, 3, 4], [5]]),
        ("2 0 1 0.0", [[1, 3], [2], [0]]),
        ("TRUE FALSE true", [[0, 2], [], [1]]),
    ],
)
def test_rows_by_the_words_of_a_column(cells: str, rows: list[list[int]]) -> None:
    found = divide_by_column(table(*cells.split()), "split", named=True)
    assert [found[name].tolist() for name in ("train", "val", "test")] == rows


@for_each(
    ("cells", "sentence"),
    [
        (
            ("train", "tset"),
            "t.csv:3: column 'split': 'tset' is not a split, wanted train, val or test",
        ),
        (
            ("train", ""),
            "t.csv:3: column 'split': a missing cell is not a split, wanted train, val or test",
        ),
        (
            ("train", "TRUE"),
            "t.csv:3: column 'split': 'TRUE' is not a split, wanted train, val or test",
        ),
        (("test", "val"), "t.csv: column 'split' leaves no training rows"),
    ],
)
def test_wrong_words_are_refused(cells: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(DataError) as refusal:
        divide_by_column(table(*cells), "split", named=False)
    assert str(refusal.value) == sentence


def test_by_chance_it_is_the_shared_hold_out() -> None:
    classes = torch.tensor([0, 1] * 10)
    found, said = divide(
        table(*["x"] * 20),
        None,
        named=False,
        val_size=0.1,
        test_size=0.2,
        seed=3,
        classes=classes,
    )
    wanted = hold_out(20, val_size=0.1, test_size=0.2, seed=3, classes=classes)
    assert [found[name].tolist() for name in ("train", "val", "test")] == [
        rows.tolist() for rows in wanted
    ]
    assert said == "rows: 14 train, 2 val, 4 test (held out at random, stratified by class)"
    _, said = divide(
        table(*["x"] * 20), None, named=False, val_size=0.1, test_size=0.2, seed=3, classes=None
    )
    assert said == "rows: 14 train, 2 val, 4 test (held out at random)"


@pytest.mark.parametrize(
    ("val_size", "sizes", "said"),
    [
        (
            0.25,
            (6, 2, 2),
            "rows: 8 train, 2 test (column 'split'); 2 of the training rows are held out for "
            "validation",
        ),
        (0.0, (8, 0, 2), "rows: 8 train, 2 test (column 'split')"),
    ],
)
def test_column_without_validation_rows_gives_some_of_its_training_rows(
    val_size: float, sizes: tuple[int, ...], said: str
) -> None:
    cells = ["test", *["train"] * 8, "test"]
    found, sentence = divide(
        table(*cells),
        "split",
        named=True,
        val_size=val_size,
        test_size=0.2,
        seed=0,
        classes=torch.tensor([0, 1] * 5),
    )
    assert tuple(len(rows) for rows in found.values()) == sizes
    assert found["test"].tolist() == [0, 9]
    assert sorted([*found["train"].tolist(), *found["val"].tolist()]) == list(range(1, 9))
    assert sentence == said


def test_validation_rows_keep_the_share_of_each_class() -> None:
    classes = torch.tensor([0] * 32 + [1] * 8)
    found, _ = divide(
        table(*["train"] * 40),
        "split",
        named=True,
        val_size=0.25,
        test_size=0.2,
        seed=0,
        classes=classes,
    )
    assert classes[found["val"]].bincount().tolist() == [8, 2]


def test_column_with_validation_rows_is_kept_as_it_is() -> None:
    found, said = divide(
        table("val", "train", "train"),
        "split",
        named=False,
        val_size=0.5,
        test_size=0.2,
        seed=0,
        classes=None,
    )
    assert [rows.tolist() for rows in found.values()] == [[1, 2], [0], []]
    assert said == "rows: 2 train, 1 val (column 'split')"


def test_a_column_of_groups_keeps_their_rows_together() -> None:
    groups = [f"patient {row // 4}" for row in range(40)]
    cells = {"who": groups, "split": ["train"] * 32 + ["test"] * 8}
    whole = RawTable(name="t.csv", columns=cells, positions=range(40))
    for column, counts in ((None, [28, 4, 8]), ("split", [28, 4, 8])):
        found, sentence = divide(
            whole,
            column,
            named=False,
            val_size=0.1,
            test_size=0.2,
            seed=0,
            classes=None,
            group_column="who",
        )
        assert [len(rows) for rows in found.values()] == counts
        held = [{groups[row] for row in rows.tolist()} for rows in found.values()]
        assert sum(map(len, held)) == len(set.union(*held)) == 10
        assert column or "held out by group, column 'who'" in sentence


def test_a_column_that_divides_a_group_is_refused() -> None:
    cells = {"who": ["a", "b", "a", "c"], "split": ["train", "test", "train", "val"]}
    whole = RawTable(name="t.csv", columns=cells, positions=range(4))
    found = divide_by_column(whole, "split", named=False)
    check_groups_apart(whole, found, "who", "split")
    check_groups_apart(whole, found, None, "split")  # no group was asked for
    for row, said in ((1, "group 'a' of column 'who' are in train and in test"),
                      (3, "group 'a' of column 'who' are in train and in val")):  # fmt: skip
        who = list(cells["who"])
        who[row] = "a"
        leaking = RawTable(name="t.csv", columns={**cells, "who": who}, positions=range(4))
        with pytest.raises(DataError, match=f"rows of {said} by column 'split'; leave out"):
            check_groups_apart(leaking, found, "who", "split")


def test_a_missing_group_is_refused_by_its_place() -> None:
    with pytest.raises(DataError, match=r"t\.csv:3: column 'split': the group is missing"):
        groups_of(table("a", "", "b"), "split")
