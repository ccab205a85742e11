"""Counts of a corpus on disk: those of brute force over its texts, and what they lead to."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from netwright.core.errors import DataError
from netwright.data.words import cooccurrence, word_stream
from netwright.data.words.corpus_counts import count_corpus, count_corpus_terms
from netwright.data.words.word_corpus import WordsConfig


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))


def brute_force(texts: list[list[str]], window: int) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for text in texts:
        for place, word in enumerate(text):
            near = text[max(0, place - window) : place] + text[place + 1 : place + 1 + window]
            found.update((word, other) for other in near)
    return found


@pytest.mark.parametrize("part", [7, 64, 2**20])
def test_counts_are_those_of_brute_force_in_parts_of_any_size(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_stream, "PART", part)
    monkeypatch.setattr(cooccurrence, "TOGETHER", part)
    rng = np.random.default_rng(0)
    lengths = [0, 1, 2, 30, 90, 5, 40]
    texts = [[f"w{n}" for n in rng.integers(12, size=length)] for length in lengths]
    (tmp_path / "a").mkdir()
    for place, text in enumerate(texts):
        (tmp_path / "a" / f"{place}.txt").write_text(" ".join(text))
    words, counts = count_corpus(WordsConfig(path=str(tmp_path / "a"), min_count=1), window=3)
    expected = brute_force(texts, 3)
    dense = counts.toarray()
    assert dense.sum() == expected.total()
    for row, word in enumerate(words):
        for column, other in enumerate(words):
            assert dense[row, column] == expected[word, other]


def test_a_window_larger_than_the_text_counts_all_pairs(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("to be or not to be")
    config = WordsConfig(path=str(tmp_path / "a.txt"), min_count=1)
    _, counts = count_corpus(config, window=100)
    assert counts.sum() == 6 * 5


def test_words_are_counted_by_file_or_by_line(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "0.txt").write_text("to be or not to be\n\nrare\nto go\n")
    (tmp_path / "a" / "1.txt").write_text("go to\n")
    config = WordsConfig(path=str(tmp_path / "a"), min_count=2)
    words, counts = count_corpus_terms(config)
    assert sorted(words) == ["be", "go", "to"]
    order = [words.index(word) for word in ("to", "be", "go")]
    assert counts.toarray()[:, order].tolist() == [[3, 2, 1], [1, 0, 1]]
    _, by_line = count_corpus_terms(replace(config, lines=True))
    assert by_line.toarray()[:, order].tolist() == [[2, 2, 0], [1, 0, 1], [1, 0, 1]]


def test_a_text_that_is_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(" \n")
    with pytest.raises(DataError, match=r"a\.txt: there are no words in it"):
        count_corpus(WordsConfig(path=str(tmp_path / "a.txt")), window=2)
