"""The encoder of a table: every source alike, new rows, and a round trip without a lost bit."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.tables.delimited import parse_delimited
from netwright.data.tables.encoding import TableEncoder, fit_features
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.reading import read_table
from netwright.data.tables.targets import TargetEncoder
from tests.repetition import for_each

TEXT = """student,balance,since,id,weight,default
No,729.5,2020-01-01,1,1,No
Yes,,2020-02-02,2,2,Yes
No,1073.25,2021-03-03,3,1,No
No,0.1,2020-01-01,4,0.5,Yes
"""
FEATURES = [
    "student=No",
    "student=Yes",
    "balance",
    "balance_missing",
    "since_year",
    "since_month",
    "since_weekday",
    "since_days",
]


def raw(text: str = TEXT) -> RawTable:
    return parse_delimited("t.csv", text.encode())


def fitted(table: RawTable) -> TableEncoder:
    features, summaries = fit_features(
        table,
        range(len(table)),
        columns=["student", "balance", "since", "id"],
        types={},
        max_categories=50,
    )
    return TableEncoder(
        features=features,
        target=TargetEncoder.fit(table, ("default",), "auto"),
        weight_column="weight",
        missing=("unknown",),
        summaries=summaries,
    )


ENCODER = fitted(raw())


def test_features_stand_side_by_side_under_their_names() -> None:
    encoded = ENCODER.encode(raw())
    assert list(ENCODER.feature_names) == FEATURES
    assert (encoded.dtype, tuple(encoded.shape)) == (torch.float32, (4, 8))
    assert encoded[:, 1].tolist() == [0, 1, 0, 0]
    assert encoded[:, 3].tolist() == [0, 1, 0, 0]


def test_every_source_is_encoded_alike(tmp_path: Path) -> None:
    expected = ENCODER.encode(raw())
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    frame = pd.read_csv(path, index_col="id", parse_dates=["since"])
    frame.to_parquet(tmp_path / "t.parquet")
    rows = frame.to_dict("records")
    sources = [path, str(tmp_path / "t.parquet"), frame, rows]
    for source in sources:
        assert torch.equal(ENCODER.encode(source), expected)
        assert ENCODER.encode_targets(source).tolist() == [0, 1, 0, 1]
        weights = ENCODER.encode_weights(source)
        assert weights is not None
        assert weights.tolist() == [1, 2, 1, 0.5]
    one = ENCODER.encode({"student": "No", "balance": 729.5, "since": "2020-01-01", "more": [1]})
    assert torch.equal(one, expected[:1])


def test_json_keeps_every_bit() -> None:
    text = json.dumps(ENCODER.to_json(), allow_nan=False)
    again = TableEncoder.from_json(json.loads(text))
    assert again == ENCODER
    assert torch.equal(again.encode(raw()), ENCODER.encode(raw()))
    with pytest.raises(DataError, match=r"^a table encoder must have format 1, got 2$"):
        TableEncoder.from_json({"format": 2})
    values = {**ENCODER.to_json(), "features": [{"kind": "os.system"}]}
    sentence = r"^a feature must be one of number, category, embedded, date, text, got 'os.system'$"
    with pytest.raises(DataError, match=sentence):
        TableEncoder.from_json(values)


def test_columns_as_seen_are_kept() -> None:
    columns = ENCODER.to_json()["columns"]
    assert [(one["name"], one["kind"], one["missing"], one["distinct"]) for one in columns] == [
        ("student", "category", 0, 2),
        ("balance", "number", 1, 3),
        ("since", "date", 0, 3),
        ("id", "id", 0, 4),
    ]
    assert ENCODER.notes() == (
        "student: category, 2 values",
        "balance: number, 1 missing (median 729.5 of the training rows, with an indicator column)",
        "since: date -> year, month, day of week, days since first",
        "id: left out, every value is different (id-like)",
    )


def test_plain_numbers_share_one_note() -> None:
    table = raw("a,b\n1,5\n2,6\n4,9\n")
    features, summaries = fit_features(
        table, range(3), columns=["a", "b"], types={}, max_categories=50
    )
    target = TargetEncoder(kind="real", columns=("y",))
    encoder = TableEncoder(features=features, target=target, summaries=summaries)
    assert encoder.notes() == ("numbers: a, b",)
    assert encoder.encode_weights(table) is None


def test_texts_that_mean_missing_travel_along() -> None:
    row = {"student": "Yes", "balance": "unknown", "since": "2020-02-02"}
    assert torch.equal(ENCODER.encode(row), ENCODER.encode({**row, "balance": None}))


def test_new_things_are_remarked() -> None:
    row = {"student": "Maybe", "balance": 1, "since": None}
    assert ENCODER.remarks(row) == (
        "student: a value not seen in training, 'Maybe', in 1 row",
        "since: 1 missing, none in training; imputed with the training median",
    )


@for_each(
    ("source", "sentence"),
    [
        (
            {"student": "No", "balanc": 1, "since": None},
            "input has no column 'balance'; did you mean 'balanc'?",
        ),
        (
            {"balance": 1},
            "input lacks 2 columns that are needed, 'student', 'since'; it has balance",
        ),
        (
            [{"student": "No", "balance": 1, "since": None}] * 2
            + [{"student": "No", "balance": "abc", "since": None}],
            "input, row 2: column 'balance': 'abc' is not a number",
        ),
        (
            raw("student,balance,since\nNo,1,2020-01-01\nNo,x1,2020-01-01\n"),
            "t.csv:3: column 'balance': 'x1' is not a number",
        ),
        (
            raw("student,balance,since\nNo,1,yesterday\n"),
            "t.csv:2: column 'since': 'yesterday' is not a date such as 2024-12-31",
        ),
    ],
)
def test_rows_that_cannot_be_encoded_are_refused(source: Any, sentence: str) -> None:
    with pytest.raises(DataError) as refusal:
        ENCODER.encode(source)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize("ask", [ENCODER.encode, ENCODER.remarks, ENCODER.read_labelled])
def test_all_columns_that_are_missing_are_named(ask: Callable[[Any], object]) -> None:
    with pytest.raises(
        DataError, match=r"^input lacks \d columns that are needed, 'student', 'sin"
    ):
        ask({"balance": 1})


def test_missing_weight_is_refused() -> None:
    with pytest.raises(DataError, match=r"^input, row 0: column 'weight': the weight is missing$"):
        ENCODER.encode_weights({"weight": None})


def test_nothing_to_learn_from_is_refused() -> None:
    table = raw("a,b\nx,1\ny,1\n")
    with pytest.raises(DataError) as refusal:
        fit_features(table, range(2), columns=["a", "b"], types={}, max_categories=50)
    assert str(refusal.value) == (
        "t.csv has no column to learn from; a: left out, every value is different (id-like), "
        "b: left out, every value is '1' (constant)"
    )
    with pytest.raises(DataError, match=r"learn from; there is no other column$"):
        fit_features(table, range(2), columns=[], types={}, max_categories=50)


def test_decoding_gives_the_rows_back() -> None:
    table = raw()
    encoder = fitted(table)
    for row, shown in enumerate(encoder.decode(encoder.encode(table))):
        for column, value in shown.items():
            cell = table.column(column)[row]
            assert value == (cell or "missing") or float(value) == float(cell)
    offset, scale = encoder.units()
    assert offset.shape == scale.shape == (len(encoder.feature_names),)


def test_files_may_be_written_otherwise_than_those_that_were_learned_from(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TEXT.replace("1073.25", '"1,073.25"'))
    with pytest.raises(DataError, match=r"'1,073.25' is not a number"):
        ENCODER.encode(tmp_path / "t.csv")
    other = ENCODER.reading(thousands=",")
    assert torch.equal(other.encode(tmp_path / "t.csv"), ENCODER.encode(raw()))
    with pytest.raises(ConfigError, match=r"^data.thousands must be "):
        ENCODER.reading(thousands=";")


@pytest.mark.parametrize("make", [list, pd.Series, tuple])
def test_targets_may_come_without_a_table(make: Any) -> None:
    assert ENCODER.encode_targets(make(["Yes", "No", "Yes"])).tolist() == [1, 0, 1]
    with pytest.raises(DataError, match="'Maybe' is not a known class"):
        ENCODER.encode_targets(make(["Maybe"]))


def test_targets_without_a_table_have_as_many_columns_as_were_learned() -> None:
    with pytest.raises(DataError, match="targets must have 1 columns, got 2"):
        ENCODER.encode_targets([["Yes", "No"]])


def test_a_table_without_features_or_targets_is_refused() -> None:
    ENCODER.check_numbers()
    with pytest.raises(DataError, match=r"^the number of features of a saved encoder must be pos"):
        replace(ENCODER, features=()).check_numbers()
    with pytest.raises(DataError, match=r"^a class target must have one column, got 0$"):
        replace(ENCODER, target=replace(ENCODER.target, columns=())).check_numbers()


def test_the_features_of_a_category_are_one_column() -> None:
    table = {
        "x": [1.0, None, 3.0, 4.0],
        "c": ["a", "b", "c", "a"],
        "z": [1.0, 2.0, 3.0, 5.0],
        "y": ["p", "q", "p", "q"],
    }
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    features, _ = fit_features(
        read_table(rows), range(4), columns=["x", "c", "z"], types={}, max_categories=9
    )
    target = TargetEncoder(kind="class", columns=("y",), class_names=("p", "q"))
    encoder = TableEncoder(features=features, target=target)
    assert encoder.feature_names == ("x", "x_missing", "c=a", "c=b", "c=c", "z")
    assert encoder.feature_groups == (0, 1, 2, 2, 2, 3)
    assert TableEncoder(features=(features[0], features[2]), target=target).feature_groups == ()
