"""A table of one's own with questions: how it is divided, what is left out, what is refused."""

from pathlib import Path

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.catalog import load
from netwright.data.spec import IGNORED
from netwright.data.text.spans.span_encoder import SpanEncoder
from tests.data.text.spans.written import write_questions


def test_questions_on_one_text_are_never_in_two_splits(tmp_path: Path) -> None:
    data = load("questions", path=str(write_questions(tmp_path)), tokenizer="word")
    encoder = data.preprocessor
    assert isinstance(encoder, SpanEncoder)
    contexts = {
        name: {row[row.index(3) :].__repr__() for row in split.inputs.tolist()}
        for name, split in data.splits()
    }
    assert len(contexts) == 3
    assert not contexts["train"] & contexts["test"]
    assert not contexts["train"] & contexts["val"]
    assert data.spec.target == "span"
    assert data.spec.output_shape == (encoder.length, 2)


def test_a_split_column_without_validation_rows_gives_whole_texts(tmp_path: Path) -> None:
    path = write_questions(tmp_path)
    header, *rows = path.read_text().strip().split("\n")
    marks = ["test" if place >= 60 else "train" for place in range(len(rows))]
    lines = [f"{row},{mark}" for row, mark in zip(rows, marks, strict=True)]
    path.write_text("\n".join([f"{header},split", *lines]) + "\n")
    data = load("questions", path=str(path), tokenizer="word", val_size=0.2)
    train, val = (
        {str(row[row.index(3) :]) for row in split.inputs.tolist()}
        for split in (data.train, data.split("val"))
    )
    assert val
    assert not train & val
    assert data.test_is_given
    path.write_text("\n".join([f"{header},split", *(f"{row},train" for row in rows)]) + "\n")
    assert not load("questions", path=str(path), tokenizer="word").test_is_given


def test_new_files_are_read_in_the_encoding_of_the_first(tmp_path: Path) -> None:
    path = write_questions(tmp_path)
    path.write_bytes(path.read_text().replace("Nice", "N\u00eemes").encode("latin-1"))
    data = load("questions", path=str(path), tokenizer="word", encoding="latin-1")
    assert data.preprocessor is not None
    assert len(data.preprocessor.encode(str(path))) == 80


def test_training_rows_whose_answer_is_cut_off_are_left_out(tmp_path: Path) -> None:
    path = str(write_questions(tmp_path))
    whole = load("questions", path=path, tokenizer="word")
    short = load("questions", path=path, tokenizer="word", max_length=13)
    assert len(short.train) < len(whole.train)
    assert len(short.split("test")) == len(whole.split("test"))
    assert bool((short.train.targets[:, 1] != IGNORED).all())
    assert bool((short.split("test").targets[:, 1] == IGNORED).any())
    assert any("train answers are cut off, these rows are left out" in one for one in short.notes)
    with pytest.raises(DataError, match=r"is within the first 8 tokens, give data.max_length a"):
        load("questions", path=path, tokenizer="word", max_length=8)


def test_an_answer_that_is_not_in_its_context_is_refused_with_its_line(tmp_path: Path) -> None:
    path = write_questions(tmp_path)
    lines = path.read_text().split("\n")
    lines[3] = lines[3].rpartition(",")[0] + ",nobody"
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"questions.csv:4: column 'answer': 'nobody' is not in"):
        load("questions", path=str(path))
    with pytest.raises(ConfigError, match="path is empty, wanted a table with questions"):
        load("questions")
