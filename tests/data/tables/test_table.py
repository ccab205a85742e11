"""Your own table from file to data: the laws, real tables, and what is refused before training."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netwright.core.errors import ConfigError, DataError, NetwrightError
from netwright.data.dataset import Data
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.table import TableConfig, from_frame
from netwright.data.tables.table_file import load_table

Find = Callable[[str], Path]
HEADER = "x,colour,day,w,split,y"


def rows(count: int, seed: int = 0) -> list[str]:
    rng = random.Random(seed)
    return [
        f"{rng.choice(['', rng.gauss(0, 3)])},{rng.choice(['red', 'blue', ''])},"
        f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02},{rng.random()},"
        f"{rng.choice(['train', 'train', 'val', 'test'])},{rng.choice('ab')}"
        for _ in range(count)
    ]


def load(folder: Path, lines: list[str], **settings: Any) -> Data:
    path = folder / "t.csv"
    path.write_text("\n".join([HEADER if "," in lines[0] else "", *lines]) + "\n")
    return load_table(TableConfig(**{"path": str(path), "target": "y", **settings}))


def load_text(folder: Path, text: str, **settings: Any) -> Data:
    (folder / "t.csv").write_text(text)
    return load_table(TableConfig(path=str(folder / "t.csv"), **settings))


def same(first: Data, second: Data) -> bool:
    return torch.equal(first.train.inputs, second.train.inputs)


def test_held_out_rows_do_not_touch_the_training_rows(tmp_path: Path) -> None:
    lines = rows(60)
    changed = [
        line if ",train," in line else f"1e9,green,1999-01-01,1,{line.split(',')[4]},a"
        for line in lines
    ]
    before, after = load(tmp_path, lines), load(tmp_path, changed)
    assert same(before, after)
    assert before.preprocessor.to_json() == after.preprocessor.to_json()
    assert before.test is not None
    assert after.test is not None
    assert not torch.equal(before.test.inputs, after.test.inputs)


def test_order_of_rows_only_reorders_the_data(tmp_path: Path) -> None:
    lines = rows(60)
    order = random.Random(1).sample(range(60), 60)
    before, after = load(tmp_path, lines), load(tmp_path, [lines[i] for i in order])
    assert before.preprocessor.to_json() == after.preprocessor.to_json()
    train = [i for i, line in enumerate(lines) if ",train," in line]
    moved = torch.tensor([train.index(i) for i in order if i in train])
    assert torch.equal(before.train.inputs[moved], after.train.inputs)
    assert torch.equal(before.train.targets[moved], after.train.targets)


def test_training_rows_are_encoded_the_same_after_a_round_trip(tmp_path: Path) -> None:
    lines = rows(60)
    data = load(tmp_path, lines)
    encoder = TableEncoder.from_json(data.preprocessor.to_json())
    (tmp_path / "train.csv").write_text(
        "\n".join([HEADER, *(line for line in lines if ",train," in line)])
    )
    assert torch.equal(encoder.encode(tmp_path / "train.csv"), data.train.inputs)
    assert torch.equal(encoder.encode_targets(tmp_path / "train.csv"), data.train.targets)


def test_frame_and_file_give_the_same_data(tmp_path: Path) -> None:
    data = load(tmp_path, rows(60), weight_column="w")
    frame = pd.read_csv(tmp_path / "t.csv").sample(frac=1.0, random_state=0).sort_index()
    frame["colour"] = frame["colour"].astype("category")
    frame["day"] = pd.to_datetime(frame["day"])
    again = from_frame(frame, TableConfig(target=("y",), weight_column="w"))
    assert again.name == "frame"
    assert same(data, again)
    assert (data.spec.class_type, again.spec.class_type) == ("", "text")  # a file does not say
    assert data.spec == replace(again.spec, class_type="")
    assert data.train.weights is not None
    assert again.train.weights is not None
    assert torch.equal(data.train.weights, again.train.weights)


def test_random_split_keeps_the_share_of_each_class(tmp_path: Path) -> None:
    text = "x,y\n" + "".join(f"{i}.5,{'rare' if i % 10 == 0 else 'usual'}\n" for i in range(100))
    data = load_text(tmp_path, text, target="y")
    counts = {name: split.targets.bincount().tolist() for name, split in data.splits()}
    assert counts == {"train": [7, 63], "val": [1, 9], "test": [2, 18]}


def test_spec_names_everything(tmp_path: Path) -> None:
    data = load(tmp_path, rows(60), drop="day", weight_column="w", types={"colour": "category"})
    assert data.spec.to_json() == {
        "inputs": "features",
        "input_shape": [5],
        "target": "class",
        "num_outputs": 2,
        "class_names": ["a", "b"],
        "class_type": "",
        "target_names": ["y"],
        "feature_names": ["x", "x_missing", "colour=blue", "colour=red", "colour=missing"],
        "feature_groups": [0, 1, 2, 2, 2],
        "feature_levels": [],
        "vocab_size": 0,
        "padding": None,
        "source_length": 0,
        "source_side": 0,
        "shared_vocabulary": False,
        "sentinels": 0,
    }
    assert data.notes[0].startswith("rows: ")
    assert "y: target, class, 2 values: 'a', 'b'" in data.notes
    assert "w: sample weights" in data.notes
    assert "day: dropped, as requested" in data.notes
    assert data.train.weights is not None


def test_column_named_split_can_be_a_feature(tmp_path: Path) -> None:
    text = "split,y\n" + "0,a\n1,b\n2,a\n1,a\n0,b\n" * 4
    assert load_text(tmp_path, text, target="y", types={"split": "number"}).spec.feature_names == (
        "split",
    )


def test_things_first_seen_in_held_out_rows_are_said(tmp_path: Path) -> None:
    text = "x,c,split,y\n" + "1,a,train,u\n2,b,train,v\n" * 4 + ",z,test,w\n"
    notes = load_text(tmp_path, text, target="y", val_size=0).notes
    assert notes[-3:] == (
        "x: 1 missing, none in training; imputed with the training median 1.5 (validation and "
        "test rows)",
        "c: a value not seen in training, 'z', in 1 row (validation and test rows)",
        "y: no training row is 'w'",
    )


def test_several_targets(tmp_path: Path) -> None:
    text = "x,p,q\n" + "".join(f"{i}.5,{i % 2},{(i + 1) % 2}\n" for i in range(20))
    reals = load_text(tmp_path, text, target=("p", "q"))
    assert (reals.spec.target, reals.spec.num_outputs) == ("real", 2)
    assert reals.spec.target_names == ("p", "q")
    labels = load_text(tmp_path, text, target="p,q", target_kind="labels")
    assert (labels.spec.target, labels.spec.class_names) == ("labels", ("p", "q"))
    assert torch.equal(reals.train.targets, labels.train.targets)


ODD_NUMBERS = ["-0.0", "3.4e38", "-3.4e38", "1e-320", "1e400", "inf", "1_0", "1,5", "9" * 30]
ODD_TEXTS = ["", "?", "yes", "TRUE", "other", "missing", "2024-02-29", "03/04/2024", "31/12/1999"]
odd_cells = st.sampled_from(ODD_NUMBERS) | st.sampled_from(ODD_TEXTS)
usual_cells = st.sampled_from(["1", "2.5", "7"]) | st.sampled_from(["a", "b", ""])


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(odd_cells, usual_cells, odd_cells | usual_cells), min_size=5, max_size=30),
    st.sampled_from(["auto", "class", "real", "labels"]),
)
def test_any_cells_give_finite_data_or_a_refusal(
    tmp_path: Path, cells: list[tuple[str, str, str]], kind: str
) -> None:
    text = "a,b,y\n" + "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in cells)
    try:
        data = load_text(tmp_path, text, target="y", target_kind=kind, drop_missing_target=True)
    except NetwrightError as refusal:
        assert "\n" not in str(refusal)
        return
    encoder = TableEncoder.from_json(json.loads(json.dumps(data.preprocessor.to_json())))
    assert encoder == data.preprocessor
    assert all(bool(split.inputs.isfinite().all()) for _, split in data.splits())


NUMBERS = "x,y\n" + "".join(f"{i}.5,{i}.25\n" for i in range(20))


@pytest.mark.parametrize(
    ("text", "settings", "error", "sentence"),
    [
        (
            NUMBERS,
            {},
            ConfigError,
            "target is missing, wanted a column of t.csv: x, y",
        ),
        (NUMBERS, {"target": "yy"}, DataError, "t.csv has no column 'yy'; did you mean 'y'?"),
        (
            NUMBERS,
            {"target": "y", "drop": "z"},
            DataError,
            "t.csv has no column 'z'; it has x, y",
        ),
        (
            NUMBERS,
            {"target": "y", "types": {"xs": "number"}},
            DataError,
            "t.csv has no column 'xs'; did you mean 'x'?",
        ),
        (
            NUMBERS,
            {"target": "y", "drop": "y"},
            ConfigError,
            "column 'y' is used both as target and as drop",
        ),
        (
            NUMBERS,
            {"target": "y", "weight_column": "y"},
            ConfigError,
            "column 'y' is used both as target and as weight_column",
        ),
        (
            "x,y\n1.5,2\n2,3\n",
            {"target": "y"},
            DataError,
            "t.csv: 2 rows are too few, wanted at least 5",
        ),
        (
            "x,y\n" + "1.5,2\n2,\n" * 3,
            {"target": "y", "drop_missing_target": True},
            DataError,
            "t.csv: 3 rows are too few, wanted at least 5",
        ),
        (
            "x,y\n" + "1.5,2.5\n2.5,2.5\n" * 5,
            {"target": "y"},
            DataError,
            "t.csv: the target 'y' is constant in the training rows, there is nothing to learn",
        ),
        (
            "x,y\n" + "1.5,a\n2.5,a\n" * 5,
            {"target": "y"},
            DataError,
            "t.csv has only one class in its training rows, 'a'",
        ),
        (
            "x,w,y\n" + "1.5,-1,a\n2.5,1,b\n" * 5,
            {"target": "y", "weight_column": "w"},
            DataError,
            "the train weights of t.csv must be >= 0 and not all zero",
        ),
        (
            "x,w,y\n" + "1.5,0,a\n2.5,0,b\n" * 5,
            {"target": "y", "weight_column": "w"},
            DataError,
            "the train weights of t.csv must be >= 0 and not all zero",
        ),
        (
            "x,y\n" + "1.5,a\n2.5,b\n" * 20 + "abc,a\n",
            {"target": "y"},
            DataError,
            "t.csv:42: column 'x': 'abc' is not a number",
        ),
        (
            "x,split,y\n1.5,train,0.5\n" + "2.5,test,1.5\n3.5,test,2.5\n" * 2,
            {"target": "y"},
            DataError,
            "t.csv has no column to learn from; x: left out, every value is '1.5' (constant)",
        ),
    ],
)
def test_refuses_before_training(
    text: str, settings: dict[str, Any], error: type[Exception], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        load_text(tmp_path, text, **settings)


def test_text_among_numbers_can_be_made_a_category(tmp_path: Path) -> None:
    text = "x,y\n" + "1.5,a\n2.5,b\n" * 20 + "abc,a\n"
    names = load_text(tmp_path, text, target="y", types={"x": "category"}).spec.feature_names
    assert set(names) >= {"x=1.5", "x=2.5"}


def test_a_column_of_text_is_learned_from_by_its_words(tmp_path: Path) -> None:
    cells = [f"{('good', 'bad')[i % 2]} film number {i}" for i in range(30)]
    text = "x,said,y\n" + "".join(f"{i},{cell},{i % 2}\n" for i, cell in enumerate(cells))
    assert load_text(tmp_path, text, target="y").spec.feature_names == ("x",)
    data = load_text(tmp_path, text, target="y", types={"said": "text"}, max_words=3)
    assert {"x", "said=film", "said=number"} < set(data.spec.feature_names)
    assert data.spec.feature_groups == (0, 1, 1, 1)
    assert any(note.startswith("said: text, ") for note in data.notes)


def test_further_texts_can_mean_missing(tmp_path: Path) -> None:
    text = "x,split,y\n" + "1.5,train,a\n2.5,train,b\n" * 20 + "abc,train,a\n"
    data = load_text(tmp_path, text, target="y", missing="abc", val_size=0)
    assert data.spec.feature_names == ("x", "x_missing")
    assert torch.equal(data.preprocessor.encode(tmp_path / "t.csv"), data.train.inputs)


def test_numbers_are_standardised_by_the_rows_that_count(tmp_path: Path) -> None:
    text = "x,w,y\n" + "1.5,3,a\n5.5,1,b\n99,0,b\n" * 4  # as 1.5 three times, 5.5 once
    data = load_text(tmp_path, text, target="y", weight_column="w", val_size=0, test_size=0)
    wanted = (torch.tensor([1.5, 5.5, 99]) - 2.5) / 3**0.5
    torch.testing.assert_close(data.train.inputs[:3, 0], wanted)


def test_wrong_settings_are_refused_in_one_sentence() -> None:
    with pytest.raises(ConfigError, match=r"^max_categories must be at least 2, got 1$"):
        TableConfig(max_categories=1)
    with pytest.raises(
        ConfigError, match=r"^types must be 'number', 'category', 'date' or 'text', got 'x'$"
    ):
        TableConfig(types={"a": "x"})  # type: ignore[dict-item]


def test_default_table(real_table: Find) -> None:
    data = load_table(TableConfig(path=str(real_table("islr/Default.csv")), target=("default",)))
    assert [len(split) for _, split in data.splits()] == [7000, 1000, 2000]
    assert data.spec.class_names == ("No", "Yes")
    assert data.spec.feature_names == ("student=No", "student=Yes", "balance", "income")
    inputs = data.train.inputs.double()
    torch.testing.assert_close(inputs[:, 2:].mean(0), torch.zeros(2).double(), atol=1e-6, rtol=0)
    torch.testing.assert_close(
        inputs[:, 2:].std(0, correction=0), torch.ones(2).double(), atol=1e-5, rtol=0
    )


def test_hitters_table_without_salaries(real_table: Find) -> None:
    config = TableConfig(path=str(real_table("islr/Hitters.csv")), target=("Salary",))
    with pytest.raises(DataError) as refusal:
        load_table(config)
    assert str(refusal.value) == (
        "Hitters.csv: 'Salary' is missing in 59 of 322 rows, first in line 2; give "
        "--drop-missing-target to drop them"
    )
    data = load_table(replace(config, drop_missing_target=True))
    assert sum(len(split) for _, split in data.splits()) == 263
    assert data.notes[0] == "59 of 322 rows were dropped, without 'Salary'"
    assert data.spec.target == "real"


def test_market_table_is_divided_by_its_own_column(real_table: Find) -> None:
    path = real_table("islr/NYSE.csv")
    data = load_table(
        TableConfig(path=str(path), target=("log_volume",), split_column="train", val_size=0)
    )
    assert [(name, len(split)) for name, split in data.splits()] == [
        ("train", 4281),
        ("test", 1770),
    ]
    assert "date: date -> year, month, day of week, days since first" in data.notes


@pytest.mark.parametrize(
    ("name", "target", "kind"),
    [("Auto", "origin", "class"), ("Auto", "mpg", "real"), ("Boston", "medv", "real")],
)
def test_other_real_tables(name: str, target: str, kind: str, real_table: Find) -> None:
    data = load_table(TableConfig(path=str(real_table(f"islr/{name}.csv")), target=(target,)))
    assert data.spec.target == kind
    assert data.spec.num_features == data.train.inputs.shape[1] == len(data.spec.feature_names)


def test_misspelt_target_of_a_real_table(real_table: Find) -> None:
    config = TableConfig(path=str(real_table("islr/Default.csv")), target=("defualt",))
    with pytest.raises(DataError, match=r"^Default\.csv has no column 'defualt'; did you mean"):
        load_table(config)


def test_a_column_of_groups_is_no_feature_and_keeps_its_rows_together() -> None:
    frame = pd.DataFrame({"x": range(40), "who": [row // 4 for row in range(40)], "y": [0, 1] * 20})
    data = from_frame(frame, TableConfig(target=("y",), group_column="who"))
    assert data.spec.feature_names == ("x",)
    assert "who: groups of rows, none of which is in two splits" in data.notes
    raw = [{int(row["x"]) // 4 for row in data.preprocessor.decode(split.inputs)}
           for _, split in data.splits()]  # fmt: skip
    assert sum(map(len, raw)) == len(set.union(*raw)) == 10
    assert len(data.preprocessor.encode(frame[["x"]])) == 40  # new rows need no group
    with pytest.raises(ConfigError, match="column 'who' is used both as drop and as group_column"):
        from_frame(frame, TableConfig(target=("y",), group_column="who", drop=("who",)))


def test_groups_that_a_split_column_divides_are_refused() -> None:
    parts = ["train", "val", "test", "train"] * 10
    frame = pd.DataFrame({"x": range(40), "who": [0, 1, 2, 3] * 10, "y": [0, 1] * 20})
    config = TableConfig(target=("y",), group_column="who")
    assert from_frame(frame.assign(split=parts), config).test is not None
    leaking = frame.assign(split=["train"] * 39 + ["test"], who=frame["x"] // 2)
    with pytest.raises(DataError, match="group '19' of column 'who' are in train and in test"):
        from_frame(leaking, config)


def test_robust_scaling_is_kept_with_the_encoder(tmp_path: Path) -> None:
    lines = ["a,y", *(f"{row}.5,{'yn'[row % 2]}" for row in range(1, 40)), "1000000,y"]
    settings: dict[str, Any] = {"target": ("y",), "val_size": 0.0, "test_size": 0.0}
    usual, robust = (
        load_text(tmp_path, "\n".join(lines), scaling=scaling, **settings)
        for scaling in ("standard", "robust")
    )
    new = pd.DataFrame({"a": [row + 0.5 for row in range(1, 40)]})
    assert float(usual.preprocessor.encode(new).std()) < 0.001  # one row has all of the spread
    encoded = robust.preprocessor.encode(new)
    assert 0.5 < float(encoded.std()) < 1.5
    again = TableEncoder.from_json(json.loads(json.dumps(robust.preprocessor.to_json())))
    assert torch.equal(again.encode(new), encoded)
