"""Targets: their kind, their classes in order, and what is refused."""

import json
from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.tables.frames import rows_table
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.targets import TargetEncoder, check_present, infer_target
from tests.repetition import for_each


def table(**columns: list[str]) -> RawTable:
    count = len(next(iter(columns.values())))
    return RawTable(
        name="t.csv", columns=columns, positions=range(count), lines=range(2, 2 + count)
    )


MANY = [str(i) for i in range(21)]


@for_each(
    ("cells", "kind"),
    [
        (["no", "yes"], "class"),
        (["TRUE", "FALSE"], "class"),
        (["1", "2", "3"], "class"),
        (["1.0", "0.0"], "class"),
        (MANY[:20], "class"),
        (MANY, "real"),
        (["0.5", "1"], "real"),
    ],
)
def test_kind_is_told_from_the_cells(cells: list[str], kind: str) -> None:
    assert infer_target(table(y=cells), ["y"]) == kind


@for_each(
    ("cells", "kind"),
    [
        (["0%", "7%", "100%"], "class"),
        (["$0", "$7", "$100"], "class"),
        (["0%", "12.5%", "100%"], "real"),
        ([f"{n}%" for n in range(30)], "real"),
    ],
)
def test_whole_per_cents_are_as_whole_as_whole_amounts(cells: list[str], kind: str) -> None:
    assert TargetEncoder.fit(table(y=cells), ("y",), "auto").kind == kind


def test_several_numbers_are_reals_and_labels_must_be_asked_for() -> None:
    both = table(y=["0", "1"], z=["1", "0"], w=["yes", "no"])
    assert infer_target(both, ["y", "z"]) == "real"
    with pytest.raises(DataError) as refusal:
        infer_target(both, ["y", "w"])
    assert str(refusal.value) == (
        "t.csv: 'w' is not numeric; several targets must be real, or yes and no with "
        "--target-kind labels"
    )


def test_one_wrong_cell_among_numbers_is_refused() -> None:
    with pytest.raises(DataError, match=r"^t\.csv:4: column 'y': 'x' is not a number$"):
        infer_target(table(y=["1", "2", "x", *MANY]), ["y"])


@for_each(
    ("cells", "names", "codes"),
    [
        (["b", "a", "b"], ("a", "b"), [1, 0, 1]),
        (["10", "9", "-1"], ("-1", "9", "10"), [2, 1, 0]),
        (["1.0", "1", "0"], ("0", "1"), [1, 1, 0]),
        (["01", "02"], ("01", "02"), [0, 1]),
    ],
)
def test_classes_are_sorted(cells: list[str], names: tuple[str, ...], codes: list[int]) -> None:
    encoder = TargetEncoder.fit(table(y=cells), ("y",), "class")
    assert (encoder.class_names, encoder.num_outputs) == (names, len(names))
    encoded = encoder.encode(table(y=cells))
    assert encoded.dtype == torch.int64
    assert encoded.tolist() == codes


def test_classes_are_known_in_each_writing() -> None:
    encoder = TargetEncoder.fit(table(y=["0.0", "1.0"]), ("y",), "class")
    assert encoder.encode(table(y=["1", "0"])).tolist() == [1, 0]


def test_reals_keep_their_units() -> None:
    both = table(y=["100.5", "-3"], z=["0", "7"])
    encoder = TargetEncoder.fit(both, ("y", "z"), "auto")
    assert (encoder.kind, encoder.class_names, encoder.num_outputs) == ("real", (), 2)
    torch.testing.assert_close(encoder.encode(both), torch.tensor([[100.5, 0], [-3, 7]]))
    assert encoder.note(both, "y") == "target, real, -3 to 100.5"


def test_labels_are_yes_or_no_in_any_writing() -> None:
    both = table(y=["1", "0.0", "true", "N", "Y"], z=["Yes", "no", "F", "t", "FALSE"])
    encoder = TargetEncoder.fit(both, ("y", "z"), "labels")
    assert encoder.class_names == ("y", "z")
    expected = torch.tensor([[1.0, 1], [0, 0], [1, 0], [0, 1], [1, 0]])
    assert torch.equal(encoder.encode(both), expected)
    assert encoder.note(both, "y") == "target, label"


def test_note_shows_how_reals_are_written() -> None:
    shares = table(y=[f"{row}.5%" for row in range(30)])
    said = TargetEncoder.fit(shares, ("y",), "auto").note(shares, "y")
    assert said == "target, real, 0.005 to 0.295 (written as '0.5%', read as 0.005)"


def test_note_says_which_classes_differ_in_case_alone() -> None:
    answers = table(y=["Yes", "yes", "no"])
    said = TargetEncoder.fit(answers, ("y",), "auto").note(answers, "y")
    assert said.endswith(
        "3 values: 'Yes', 'no', 'yes'; 'Yes', 'yes' differ in capital letters alone"
    )


def test_note_shows_classes() -> None:
    encoder = TargetEncoder.fit(table(y=["No", "Yes"]), ("y",), "auto")
    assert encoder.note(table(y=["No"]), "y") == "target, class, 2 values: 'No', 'Yes'"


def test_classes_that_may_be_numbers_are_noted() -> None:
    cells = table(y=["1 234", "950", "1\u202f234", "950"])
    target = TargetEncoder.fit(cells, ("y",), "auto")
    said = "its cells may be numbers: --set data.thousands=space reads 1 234 as 1234"
    assert target.kind == "class" and target.note(cells, "y").endswith(f"; {said}")
    many = table(y=[f"{row} 000" for row in range(1, 25)])
    with pytest.raises(DataError, match=f"24 rows, too many for classes; {said}"):
        TargetEncoder.fit(many, ("y",), "auto")
    kilos = table(y=[f"{row} kg" for row in range(1, 25)])
    with pytest.raises(DataError, match="too many for classes; its cells are numbers followed by"):
        TargetEncoder.fit(kilos, ("y",), "auto")


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("yse", "t.csv:2: column 'y': 'yse' is not a known class; did you mean 'yes'?"),
        ("17", "t.csv:2: column 'y': '17' is not a known class; there are no, yes"),
    ],
)
def test_unknown_class_is_refused(cell: str, sentence: str) -> None:
    encoder = TargetEncoder(kind="class", columns=("y",), class_names=("no", "yes"))
    with pytest.raises(DataError) as refusal:
        encoder.encode(table(y=[cell]))
    assert str(refusal.value) == sentence


def test_missing_targets_are_counted() -> None:
    two = table(x=["1", "1", "1", "1"], y=["1", "", "", "2"])
    with pytest.raises(DataError) as refusal:
        check_present(two, ("x", "y"), "; do this")
    assert str(refusal.value) == "t.csv: 'y' is missing in 2 of 4 rows, first in line 3; do this"
    encoder = TargetEncoder(kind="real", columns=("y",))
    with pytest.raises(DataError, match=r"in 2 of 4 rows, first in line 3; leave such rows out$"):
        encoder.encode(two)
    ticked = table(y=["x", "", "x"])
    with pytest.raises(DataError, match="line 3, and otherwise always 'x'; write what a blank"):
        check_present(ticked, ("y",), "; do this")
    with pytest.raises(DataError, match=r"line 3; leave such rows out$"):  # new rows, perhaps few
        check_present(ticked, ("y",))


@for_each(
    ("kind", "columns", "error", "sentence"),
    [
        ("class", ("a", "b"), ConfigError, "a class target is one column, got a, b"),
        (
            "class",
            ("a",),
            DataError,
            "t.csv: 'a' has 21 distinct values in 21 rows, too many for classes",
        ),
        ("real", ("b",), DataError, "t.csv:2: column 'b': 'x' is not a number"),
        (
            "labels",
            ("b",),
            DataError,
            "t.csv:2: column 'b': 'x' is not a label, wanted 0/1 or yes/no",
        ),
    ],
)
def test_kinds_that_do_not_fit_are_refused(
    kind: Any, columns: tuple[str, ...], error: type[Exception], sentence: str
) -> None:
    two = table(a=MANY, b=["x"] * 21)
    with pytest.raises(error) as refusal:
        TargetEncoder.fit(two, columns, kind).encode(two)
    assert str(refusal.value) == sentence


def test_sentences_as_a_target_lead_to_pairs_of_texts() -> None:
    said = table(y=[f"this is text {number}" for number in range(21)])
    with pytest.raises(DataError) as refusal:
        TargetEncoder.fit(said, ("y",), "auto")
    assert str(refusal.value) == (
        "t.csv: 'y' has 21 distinct values in 21 rows, too many for classes; pairs of texts are "
        "read with --set data.name=text-pairs"
    )


def test_the_type_of_classes_is_kept_and_other_targets_have_none() -> None:
    rows = rows_table([{"y": 1, "z": 0.5}, {"y": 2, "z": 1.5}])
    assert TargetEncoder.fit(rows, ("y",), "class").class_type(rows) == "int"
    assert TargetEncoder.fit(rows, ("z",), "real").class_type(rows) == ""
    assert TargetEncoder(kind="class", columns=("y",)).class_type(table(y=["1", "2"])) == ""


def test_json_round_trip() -> None:
    encoder = TargetEncoder(kind="class", columns=("y",), class_names=("a", "b"))
    assert TargetEncoder.from_json(json.loads(json.dumps(encoder.to_json()))) == encoder


@pytest.mark.parametrize(
    ("kind", "columns", "wanted"),
    [("class", (), "one column"), ("class", ("a", "b"), "one column"), ("real", (), "a column")],
)
def test_columns_that_no_target_has_are_refused(
    kind: Any, columns: tuple[str, ...], wanted: str
) -> None:
    for honest in (
        TargetEncoder(kind="class", columns=("a",)),
        TargetEncoder.fit(table(a=["0.5"], b=["1"]), ("a", "b"), "real"),
    ):
        honest.check_columns()
    sentence = f"^a {kind} target must have {wanted}, got {len(columns)}$"
    with pytest.raises(DataError, match=sentence):
        TargetEncoder(kind=kind, columns=columns).check_columns()
