"""Text of one's own as data: cut by position, the vocabulary of the first part, honest notes."""

import gzip
import re
from pathlib import Path

import pytest
import torch

from netwright.core.config import parse
from netwright.core.errors import ConfigError, DataError
from netwright.data.files import file_content
from netwright.data.loading.windows import WindowSplit
from netwright.data.spec import IGNORED
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.corpus import (
    TextConfig,
    WindowConfig,
    corpus_data,
    cut_texts,
    load_text,
)
from netwright.data.text.corpus_encoder import CorpusEncoder
from netwright.data.text.tokenizer import EOS
from tests.repetition import for_each

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def book(folder: Path, text: str, name: str = "book.txt") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_parts_are_stretches_in_their_order() -> None:
    parts = cut_texts(["0123456789"], val_size=0.2, test_size=0.1)
    assert parts == {"train": ["0123456"], "val": ["78"], "test": ["9"]}
    assert list(cut_texts(["01234"], val_size=0, test_size=0)) == ["train"]


@for_each("val_size", [0.0, 0.1, 0.33, 0.5])
@for_each("test_size", [0.0, 0.2, 0.4])
def test_parts_of_several_texts_are_together_all_of_them(val_size: float, test_size: float) -> None:
    texts = ["abc", "", "defghij", "k" * 12]
    parts = cut_texts(texts, val_size=val_size, test_size=test_size)
    assert "".join(piece for part in parts.values() for piece in part) == "".join(texts)
    assert list(parts) == [part for part in ("train", "val", "test") if part in parts]


def test_a_book_becomes_windows_and_the_training_part_names_the_characters(tmp_path: Path) -> None:
    config = TextConfig(path=book(tmp_path, ALPHABET * 4 + "!?" * 8), window=5, val_size=0.2)
    data = load_text(config)
    assert isinstance(data.train, WindowSplit) and data.train.stride == 5
    assert data.val is not None and data.test is None
    assert data.spec.vocab_size == 4 + 26
    counted = data.val.targets[data.val.targets != IGNORED]
    assert len(counted) == 24 - 1 and int((counted == 1).sum()) == 16
    assert data.notes == (
        "the splits are cut by position: train then val",
        "tokens (char): 96 train, 24 val",
        "vocabulary of the training part: 26 and 4 special ones; "
        "unknown: 0 % of train, 66.7 % of val",
    )
    text = data.preprocessor.decode(data.train.inputs)[0]["text"]
    assert text == ALPHABET[:5]


def test_texts_that_are_windows_say_nothing_of_a_test_unless_their_source_does() -> None:
    texts = {"train": [ALPHABET], "test": [ALPHABET]}
    tokenizer, config = CharTokenizer.fit([ALPHABET]), WindowConfig(window=5)
    data = corpus_data("letters", texts, tokenizer, config)
    assert (data.name, data.test_is_given) == ("letters", False)
    assert isinstance(data.preprocessor, CorpusEncoder)
    assert data.preprocessor.encoding == ""
    given = corpus_data("letters", texts, tokenizer, config, test_is_given=True, encoding="latin-1")
    assert given.test_is_given
    assert isinstance(given.preprocessor, CorpusEncoder)
    assert given.preprocessor.encoding == "latin-1"


def test_the_stride_and_the_tokens_are_settings(tmp_path: Path) -> None:
    path = book(tmp_path, "The cat and the dog. " * 30)
    settings = {"path": path, "window": 4, "stride": 1, "tokenizer": "word", "lower": "true"}
    data = load_text(parse(TextConfig, settings))
    assert data.train.inputs.stride() == (1, 1)
    assert data.spec.vocab_size == 4 + 5


def test_files_of_a_folder_each_end_and_their_names_may_say_their_parts(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt"):
        book(tmp_path, name[0] * 20, name)
    data = load_text(TextConfig(path=str(tmp_path), window=4, val_size=0))
    assert data.val is None
    stream = data.train.stream if isinstance(data.train, WindowSplit) else torch.empty(0)
    assert stream.tolist() == [4] * 20 + [EOS] + [5] * 20 + [EOS]
    assert data.notes[1] == "2 files, each ends in <eos>"
    parts = tmp_path / "parts"
    parts.mkdir()
    for name in ("train.txt", "valid.txt", "test.txt"):
        book(parts, "a" * 20, name)
    data = load_text(TextConfig(path=str(parts), window=4))
    assert [part for part, _ in data.splits()] == ["train", "val", "test"]
    assert data.notes[0] == "the splits are given by file names"


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({}, DataError, "the val part of book.txt has 3 tokens, wanted more than window=16; give "
         "a longer text or --set data.window=1"),
        ({"val_size": 0, "window": 64}, DataError, "the train part of book.txt has 26 tokens, "
         "wanted more than window=64; give a longer text or --set data.window=13"),
        ({"val_size": 0.03}, DataError, "the val part of book.txt has 1 tokens, wanted more than "
         "window=16; give a longer text"),
        ({"val_size": 0.5, "test_size": 0.5}, ConfigError,
         "val_size + test_size must be less than 1, got 0.5 + 0.5"),
        ({"path": ""}, ConfigError, "path is empty, wanted a .txt file or a folder of them"),
    ],
)  # fmt: skip
def test_what_cannot_be_learned_from_is_refused(
    tmp_path: Path, settings: dict[str, object], error: type[Exception], sentence: str
) -> None:
    given = {"path": book(tmp_path, ALPHABET), "window": 16, **settings}
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        load_text(parse(TextConfig, given))


def test_packed_texts_have_one_allowance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_content, "FREE", 2**20)
    for place in range(4):
        (tmp_path / f"{place}.txt.gz").write_bytes(gzip.compress(b"a b\n" * 2**17))  # 2**19 bytes
    with pytest.raises(DataError, match=r"2\.txt\.gz unpacks to far more than its size"):
        load_text(TextConfig(path=str(tmp_path)))


def test_a_text_of_which_nothing_is_left_to_train_on_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^the text has 1 characters, too few to train on"):
        load_text(parse(TextConfig, {"path": book(tmp_path, "a")}, "data"))
