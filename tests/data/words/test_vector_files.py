"""Files of vectors: each format there and back to the bit, and hostile ones in one sentence."""

from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.words.vector_files import VectorFormat, load_vectors, save_vectors
from netwright.data.words.word_vectors import WordVectors

RNG = np.random.default_rng(0)
WORDS = WordVectors(
    words=("the", "käfer", "漢字", "of"), vectors=RNG.standard_normal((4, 5)).astype(np.float32)
)


@pytest.mark.parametrize("form", get_args(VectorFormat))
def test_every_format_gives_the_same_bits_back(form: VectorFormat, tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    save_vectors(path, WORDS, form)
    found = load_vectors(path)
    assert found.words == WORDS.words
    np.testing.assert_array_equal(found.vectors, WORDS.vectors)
    with pytest.raises(ConfigError, match="already exists and is not overwritten"):
        save_vectors(path, WORDS, form)


def test_the_text_is_that_of_word2vec(tmp_path: Path) -> None:
    one = WordVectors(words=("a", "b"), vectors=np.array([[1, 0.1], [2, -3]], dtype=np.float32))
    save_vectors(tmp_path / "v.txt", one)
    assert (tmp_path / "v.txt").read_text() == "2 2\na 1 0.100000001\nb 2 -3\n"


def test_a_word_with_a_blank_is_not_written(tmp_path: Path) -> None:
    two = WordVectors(words=("new york",), vectors=np.zeros((1, 2), dtype=np.float32))
    with pytest.raises(ConfigError, match="'new york' has a blank"):
        save_vectors(tmp_path / "v.txt", two)
    assert not (tmp_path / "v.txt").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"a 1 2\nb 1\n", "v:2: wanted a word and 2 numbers, got 1"),
        (b"a 1 x\n", "v:1: what follows 'a' is not numbers"),
        (b"3 2\na 1 2\nb 1 2\n", "says 3 words, it has 2"),
        (b"2 3\na 1 2\nb 1 2\n", "v:2: wanted a word and 3 numbers, got 2"),
        (b"9999999999 9999999999\n\xff\xfe\n", "truncated or no file of word vectors"),
        (b"2 2\na \x00\x00\x80\x3f\x00\x00\x80\xff\nb \x00\xff\x00", "truncated"),
        (b"\xff\xfea 1\n", "byte 0 is not UTF-8"),
        (b"a 1 nan\n", "finite"),
        (b"a 1\na 2\n", "two vectors"),
        (b"word\n", "wanted a word and 0 numbers, got 0"),
    ],
)
def test_hostile_files_are_refused_in_a_sentence(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "v").write_bytes(content)
    with pytest.raises(DataError, match=said):
        load_vectors(tmp_path / "v")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        load_vectors(tmp_path / "none")
