"""A table with a text column as data: divided as tables are, fitted on training rows, told."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.core.config import describe, parse
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data
from netwright.data.text import text_table
from netwright.data.text.row_encoder import RowEncoder
from netwright.data.text.text_table import TextTableConfig, load_text_table

ROWS = [(f"a {word} film number {number}", label) for number, (word, label) in
        enumerate([("good", "yes"), ("bad", "no")] * 20)]  # fmt: skip


def write(folder: Path, rows: Sequence[tuple[str, ...]], header: str = "text\tkind") -> str:
    path = folder / "reviews.tsv"
    path.write_text("\n".join([header, *("\t".join(row) for row in rows)]), encoding="utf-8")
    return str(path)


def load(path: str, **settings: Any) -> Data:
    given = {"path": path, "text": "text", "target": "kind", **settings}
    return load_text_table(parse(TextTableConfig, given))


def test_rows_become_tokens_and_classes(tmp_path: Path) -> None:
    data = load(write(tmp_path, ROWS))
    assert {part: len(split) for part, split in data.splits()} == {"train": 28, "val": 4, "test": 8}
    assert data.spec.class_names == ("no", "yes") and data.spec.input_shape == (5,)
    for _, split in data.splits():
        assert int(split.targets.sum()) * 2 == len(split)  # class by class
    text = data.preprocessor.decode(data.train.inputs[:1])[0]["text"]
    assert text == "a good film number <unk>"
    assert data.notes == (
        "rows: 28 train, 4 val, 8 test (held out at random, stratified by class)",
        "text: text, 5 word tokens known, 20 % of the training text unknown",
        "text: 5 tokens per text; 0 % of the training texts are truncated, the longest has 5",
        "kind: target, class, 2 values: 'no', 'yes'",
    )


def test_a_split_column_divides_and_only_training_rows_name_words(tmp_path: Path) -> None:
    rows = [(*row, "test" if place >= 30 else "train") for place, row in enumerate(ROWS)]
    rows[-1] = ("superb superb superb", "no", "test")
    data = load(write(tmp_path, rows, "text\tkind\tsplit"), val_size=0.2)
    assert {part: len(split) for part, split in data.splits()} == {
        "train": 24,
        "val": 6,
        "test": 10,
    }
    assert data.test is not None and data.test_is_given
    assert data.test.inputs[-1].tolist() == [1, 1, 1, 0, 0]


def test_groups_that_a_split_column_divides_are_refused(tmp_path: Path) -> None:
    rows = [(f"word {row}", "ab"[row % 2], f"g{row}", "train") for row in range(8)]
    rows += [("word", "a", "g3", "test"), ("other", "b", "g9", "test")]
    path = write(tmp_path, rows, "text\tkind\twho\tsplit")
    with pytest.raises(DataError, match="group 'g3' of column 'who' are in train and in test"):
        load(path, group_column="who")


def test_weights_of_words_and_the_length_come_from_training_rows_alone(tmp_path: Path) -> None:
    learned = [(*row, "train") for row in ROWS]
    tested = [("good " * 30, kind, "test") for _, kind in ROWS]
    header = "text\tkind\tsplit"
    for inputs in ("tokens", "tf-idf"):
        alone, beside = (
            load(write(tmp_path, rows, header), inputs=inputs, val_size=0.2)
            for rows in ([*learned, tested[0]], [*learned, *tested])
        )
        assert beside.spec.input_shape == alone.spec.input_shape == (5,)
        assert torch.equal(beside.train.inputs, alone.train.inputs)
    row = dict(zip(beside.spec.feature_names, beside.train.inputs.amax(0).tolist(), strict=True))
    assert row["good"] == pytest.approx(math.log(2))  # in one of two training texts


def test_long_texts_are_cut_where_most_of_them_end(tmp_path: Path) -> None:
    rows = [("word " * length, "yes" if length % 2 else "no") for length in range(1, 101)]
    path = write(tmp_path, rows)
    data = load(path, val_size=0, test_size=0)
    assert data.spec.input_shape == (96,)
    assert load(path, max_length=7).spec.input_shape == (7,)
    long = [("word " * 900, kind) for _, kind in rows]
    assert load(write(tmp_path, long)).spec.input_shape == (512,)


def test_texts_of_one_word_are_one_token(tmp_path: Path) -> None:
    rows = [("good", "yes"), ("bad", "no")] * 10
    assert load(write(tmp_path, rows)).spec.input_shape == (1,)


@pytest.mark.parametrize(("inputs", "size"), [("tokens", 9), ("bag", 6), ("tf-idf", 6)])
def test_a_bag_has_fewer_words_where_nothing_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inputs: str, size: int
) -> None:
    monkeypatch.setattr(text_table, "USUAL_SIZE", 9)
    monkeypatch.setattr(text_table, "BAG_SIZE", 6)
    rows = [("one two three four five six seven", kind) for _, kind in ROWS]
    encoder = load(write(tmp_path, rows), inputs=inputs).preprocessor
    assert isinstance(encoder, RowEncoder)
    assert encoder.tokenizer.size == size


@pytest.mark.parametrize(("inputs", "size"), [("tokens", 20_000), ("bag", 5_000)])
def test_the_vocabulary_has_the_size_that_the_setting_says(
    tmp_path: Path, inputs: str, size: int
) -> None:
    (said,) = (field.doc for field in describe(TextTableConfig) if field.name == "vocab_size")
    assert f"{size:,}" in said
    words = [f"w{number}" for number in range(21_000)]
    rows = [(" ".join(words[place::30]), kind) for place, (_, kind) in enumerate(ROWS[:30])]
    settings = {"min_count": 1, "max_length": 4, "val_size": 0, "test_size": 0}
    encoder = load(write(tmp_path, rows), inputs=inputs, **settings).preprocessor
    assert isinstance(encoder, RowEncoder)
    assert encoder.tokenizer.size == size


@pytest.mark.parametrize("inputs", ["bag", "tf-idf"])
def test_bags_are_features(tmp_path: Path, inputs: str) -> None:
    data = load(write(tmp_path, ROWS), inputs=inputs)
    assert data.spec.inputs == "features" and data.spec.input_shape == (5,)
    row = dict(zip(data.spec.feature_names, data.train.inputs[0].tolist(), strict=True))
    assert row["good"] == pytest.approx(1 if inputs == "bag" else torch.tensor(2.0).log().item())
    assert row["film"] == (1 if inputs == "bag" else 0)
    assert load(write(tmp_path, ROWS), inputs=inputs, vocab_size=6).spec.input_shape == (2,)


def test_reals_can_be_predicted(tmp_path: Path) -> None:
    rows = [(text, str(0.5 + place)) for place, (text, _) in enumerate(ROWS)]
    data = load(write(tmp_path, rows))
    assert data.spec.target == "real" and data.train.targets.shape == (28, 1)


def test_rows_that_lack_a_cell_are_left_out_where_asked(tmp_path: Path) -> None:
    path = write(tmp_path, [*ROWS, ("", "yes"), ("a text", "")])
    data = load(path, drop_missing_text=True, drop_missing_target=True)
    assert data.notes[0] == "2 of 42 rows were dropped, a cell is missing"
    for settings, sentence in (
        ({"drop_missing_target": True}, "reviews.tsv: 'text' is missing in 1 of 42 rows, first in "
         "line 42; give --set data.drop_missing_text=true to drop them"),
        ({"drop_missing_text": True}, "reviews.tsv: 'kind' is missing in 1 of 42 rows, first in "
         "line 43; give --drop-missing-target to drop them"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
            load(path, **settings)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"text": "txt"}, "reviews.tsv has no column 'txt'; did you mean 'text'?"),
        ({"target": "kinds"}, "reviews.tsv has no column 'kinds'; did you mean 'kind'?"),
        ({"text": ""}, "text is missing, wanted a column of reviews.tsv: text, kind"),
        ({"target": ()}, "target is missing, wanted a column of reviews.tsv: text, kind"),
        ({"target": "text"}, "column 'text' is used both as text and as target"),
        ({"min_count": 99}, "no token of column 'text' occurs min_count=99 times"),
        ({"path": ""}, "path is empty, wanted the path of a .csv, .tsv or .parquet file"),
    ],
)
def test_settings_without_sense_are_refused(
    tmp_path: Path, settings: dict[str, Any], sentence: str
) -> None:
    given = {"path": write(tmp_path, ROWS), **settings}
    with pytest.raises((ConfigError, DataError), match=f"^{re.escape(sentence)}$"):
        load(**given)


def test_a_plain_text_is_sent_to_language_models(tmp_path: Path) -> None:
    (tmp_path / "novel.txt").write_text("It was a dark night\n" * 9, encoding="utf-8")
    sentence = (
        "novel.txt has one column, wanted a text and a target; a language model is trained on "
        "plain text, without --text and --target"
    )
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        load(str(tmp_path / "novel.txt"))


def test_one_class_and_few_rows_are_refused(tmp_path: Path) -> None:
    one = [(text, "yes") for text, _ in ROWS]
    with pytest.raises(DataError, match=r"^reviews\.tsv has only one class in its training rows"):
        load(write(tmp_path, one))
    with pytest.raises(DataError, match=r"^reviews\.tsv: 4 rows are too few, wanted at least 5$"):
        load(write(tmp_path, ROWS[:4]))
