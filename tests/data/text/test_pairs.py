"""Your own pairs of texts: tables and parallel files, whose words are known, and refusals."""

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.catalog import load
from netwright.data.dataset import Data
from netwright.data.text.pair_encoder import PairEncoder

NUMBERS = [("eins zwei", "one two"), ("zwei", "two"), ("drei", "three"), ("eins drei", "one three")]


def table(folder: Path, rows: Sequence[tuple[str, ...]], header: str = "source\ttarget") -> Path:
    file = folder / "pairs.tsv"
    file.write_text("\n".join([header, *("\t".join(row) for row in rows)]) + "\n")
    return file


def encoder_of(data: Data) -> PairEncoder:
    assert isinstance(data.preprocessor, PairEncoder)
    return data.preprocessor


def texts(data: Data) -> list[tuple[str, str]]:
    rows = [row for _, split in data.splits() for row in encoder_of(data).decode(split.inputs)]
    return [(row["source"], row["target"]) for row in rows]


def test_a_table_with_two_columns_is_read_and_divided(tmp_path: Path) -> None:
    data = load("text-pairs", path=str(table(tmp_path, NUMBERS * 5)), min_count=1)
    assert {name: len(split) for name, split in data.splits()} == {"train": 14, "val": 2, "test": 4}
    assert sorted(texts(data)) == sorted(NUMBERS * 5)
    assert (data.spec.source_length, data.spec.input_shape) == (2, (5,))
    assert data.spec.vocab_size == data.spec.num_outputs == 4 + 3
    assert data.notes[-2:] == (
        "source: text, 3 word tokens known, 0 % of the training text unknown; 2 tokens per text, "
        "0 % of the training texts are truncated",
        "target: text, 3 word tokens known, 0 % of the training text unknown; 2 tokens per text, "
        "0 % of the training texts are truncated",
    )


def test_columns_may_have_other_names_and_a_column_may_divide_the_rows(tmp_path: Path) -> None:
    rows = [(*pair, part) for pair in NUMBERS for part in ("train", "dev", "test")]
    file = table(tmp_path, rows, "de\ten\tsplit")
    data = load("text-pairs", path=str(file), source="en", target="de")
    assert {name: len(split) for name, split in data.splits()} == {"train": 4, "val": 4, "test": 4}
    assert data.test_is_given
    assert encoder_of(data).columns == ("en", "de")


def test_vocabularies_are_those_of_the_training_rows(tmp_path: Path) -> None:
    rows = [("eins", "one", "train")] * 2 + [("zwei", "two", "test")] * 2
    data = load("text-pairs", path=str(table(tmp_path, rows, "source\ttarget\tsplit")))
    assert encoder_of(data).source.tokens[4:] == ("eins",)
    assert texts(data)[-1] == ("<unk>", "<unk>")


def test_a_shared_vocabulary_is_that_of_both_columns(tmp_path: Path) -> None:
    path = str(table(tmp_path, NUMBERS * 5))
    data = load("text-pairs", path=path, shared_vocabulary=True)
    encoder = encoder_of(data)
    assert encoder.source is encoder.target
    assert set(encoder.source.tokens[4:]) == {"eins", "zwei", "drei", "one", "two", "three"}
    assert data.spec.shared_vocabulary
    assert PairEncoder.from_json(encoder.to_json()).spec == data.spec
    assert not load("text-pairs", path=path).spec.shared_vocabulary
    rare = r"^no token of columns 'source' and 'target' occurs min_count=99 times$"
    with pytest.raises(DataError, match=rare):
        load("text-pairs", path=path, shared_vocabulary=True, min_count=99)


def test_two_files_are_read_line_by_line(tmp_path: Path) -> None:
    sources, targets = tmp_path / "train.de", tmp_path / "train.en.gz"
    sources.write_text("".join(f"{source}\n" for source, _ in NUMBERS * 3))
    targets.write_bytes(gzip.compress("".join(f"{said}\n" for _, said in NUMBERS * 3).encode()))
    data = load("text-pairs", path=str(sources), target_path=str(targets))
    assert sorted(texts(data)) == sorted(NUMBERS * 3)


def test_texts_are_cut_at_a_given_length_and_the_notes_say_how_many(tmp_path: Path) -> None:
    file = table(tmp_path, NUMBERS * 5)
    data = load("text-pairs", path=str(file), tokenizer="char", max_length=4, val_size=0)
    assert (data.spec.source_length, data.spec.input_shape) == (4, (9,))
    assert {source for source, _ in texts(data)} == {"eins", "zwei", "drei"}
    assert data.notes[-1].endswith("; 4 tokens per text, 75 % of the training texts are truncated")


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    file = table(tmp_path, [*NUMBERS, ("vier", "")])
    with pytest.raises(ConfigError, match=r"^path is empty, wanted a table with two columns"):
        load("text-pairs")
    with pytest.raises(ConfigError, match=r"^column 'de' is used both as source and as target$"):
        load("text-pairs", path=str(file), source="de", target="de")
    with pytest.raises(DataError, match=r"pairs\.tsv has no column 'en'"):
        load("text-pairs", path=str(file), target="en")
    with pytest.raises(DataError, match=r"^pairs\.tsv: 'target' is missing in 1 of 5 rows, "):
        load("text-pairs", path=str(file))
    with pytest.raises(DataError, match=r"^no token of column 'source' occurs min_count=9 times$"):
        load("text-pairs", path=str(table(tmp_path, NUMBERS)), min_count=9, test_size=0)


def test_files_of_different_length_are_refused(tmp_path: Path) -> None:
    sources, targets = tmp_path / "a.de", tmp_path / "a.en"
    sources.write_text("eins\nzwei\n")
    targets.write_text("one\n")
    with pytest.raises(
        DataError, match=r"^a\.de has 2 lines, a\.en has 1: wanted the same number, line by line$"
    ):
        load("text-pairs", path=str(sources), target_path=str(targets))


def test_a_column_of_tasks_is_written_before_each_source(tmp_path: Path) -> None:
    rows = [(*pair, task) for pair in NUMBERS for task in ("translate", "spell")]
    file = table(tmp_path, rows * 3, "source\ttarget\ttask")
    data = load("text-pairs", path=str(file), prefix="task", min_count=1)
    read = {source for source, _ in texts(data)}
    assert "translate : eins zwei" in read
    assert "spell : eins zwei" in read
    assert data.spec.source_length == 4
    encoder = encoder_of(data)
    row = {"task": "spell", "source": "drei"}
    typed = encoder.encode(["spell: drei"])  # texts in a list come with their tasks
    assert encoder.encode([row]).tolist() == typed.tolist()
    assert PairEncoder.from_json(encoder.to_json()) == encoder
    with pytest.raises(DataError, match="'task'"):
        encoder.encode([{"source": "drei"}])
    with pytest.raises(DataError, match="'tusk'"):
        load("text-pairs", path=str(file), prefix="tusk")
