"""Phrases: which pairs are joined, by loops; greedily, whatever the parts; and a text with them."""

from pathlib import Path

import numpy as np
import pytest

import netwright as nw
from netwright.data.words.phrases import (
    THRESHOLD,
    Counts,
    _sum_of,
    find_phrases,
    join_phrases,
)
from netwright.data.words.word_corpus import WordsConfig, load_words

LEAST = 2


def text_of(length: int = 4000) -> np.ndarray:
    """Words at random, the pairs 1 2 and 2 3 often together, ends of texts between them."""
    rng = np.random.default_rng(0)
    words = rng.integers(4, 400, length)
    for place in range(0, length - 4, 400):
        words[place : place + 2] = (1, 2)
    for place in range(20, length - 4, 800):
        words[place : place + 3] = (1, 2, 3)
    words[::333] = 0
    return words.astype(np.int32)


def in_parts(words: np.ndarray, size: int) -> list[np.ndarray]:
    return [words[begin : begin + size] for begin in range(0, len(words), size)]


@pytest.mark.parametrize("size", [7, 100, 4000])
def test_pairs_are_scored_as_in_the_paper_whatever_the_parts(size: int) -> None:
    words = text_of()
    counts = np.bincount(words)
    expected = []
    pairs = list(zip(words[:-1].tolist(), words[1:].tolist(), strict=True))
    for a, b in sorted(set(pairs)):
        together = pairs.count((a, b))
        score = (together - LEAST) / (counts[a] * counts[b]) * counts[1:].sum()
        if a and b and min(counts[a], counts[b]) >= LEAST and score > THRESHOLD:
            expected.append(a * len(counts) + b)
    found = find_phrases(in_parts(words, size), counts, LEAST)
    assert found.tolist() == expected
    assert 0 < len(found) < 10


def test_counting_takes_time_in_proportion_to_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a text in which each pair is new, a pair is sorted again but a few times."""
    sorted_again = 0

    def watched(some: Counts, others: Counts) -> Counts:
        nonlocal sorted_again
        sorted_again += len(some[0]) + len(others[0])
        return _sum_of(some, others)

    monkeypatch.setattr("netwright.data.words.phrases._sum_of", watched)
    words = np.random.default_rng(0).integers(1, 30_000, 100_000).astype(np.int32)
    find_phrases(in_parts(words, 100), np.bincount(words), 1)  # 1,000 parts
    assert 0 < sorted_again < 15 * len(words)  # adding each part to all before: 500


@pytest.mark.parametrize("size", [1, 2, 3, 5, 14])
def test_words_are_joined_from_left_to_right(size: int) -> None:
    words = np.array([1, 2, 3, 1, 2, 2, 2, 2, 3, 0, 3, 1, 0, 2], dtype=np.int32)
    phrases = np.array([1 * 4 + 2, 2 * 4 + 2, 2 * 4 + 3])  # 4: 1 2, 5: 2 2, 6: 2 3
    joined = np.concatenate(list(join_phrases(in_parts(words, size), phrases, 4)))
    assert joined.tolist() == [4, 3, 4, 5, 6, 0, 3, 1, 0, 2]


def test_no_phrase_leaves_the_text_as_it_is() -> None:
    words = text_of()
    same = np.concatenate(list(join_phrases(in_parts(words, 100), np.empty(0, np.int64), 400)))
    np.testing.assert_array_equal(same, words)


def test_a_corpus_has_its_phrases_as_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))
    rng = np.random.default_rng(1)
    texts = []
    for _ in range(300):
        around = [f"w{n}" for n in rng.integers(300, size=12)]
        drawn = rng.random()
        around[6:6] = ["new", "york", "city", "hall"] if drawn < 0.05 else ["new"] * (drawn > 0.98)
        texts.append(" ".join(around))
    (tmp_path / "a.txt").write_text("\n".join(texts))
    given = {"path": str(tmp_path / "a.txt"), "lines": True}
    plain, pairs, fours = (
        load_words(WordsConfig(**given, phrases=passes))  # type: ignore[arg-type]
        for passes in (0, 1, 2)
    )
    tokens = [data.preprocessor.tokenizer.tokens for data in (plain, pairs, fours)]  # type: ignore[attr-defined]
    assert "new_york" not in tokens[0]
    assert {"new_york", "city_hall", "new"} <= set(tokens[1])
    assert "new_york_city_hall" in tokens[2]
    assert "york" not in tokens[2]
    assert any("1 phrase" in note for note in fours.notes)
    run = nw.fit(
        "word2vec",
        given["path"],
        phrases=1,
        dim=3,
        epochs=1,
        version="plain",
        save=False,
        quiet=True,
    )
    assert "new_york" in run.preprocessor.tokenizer.tokens  # type: ignore[attr-defined]


def test_phrases_are_told_from_words_of_the_same_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))
    rng = np.random.default_rng(1)
    texts = []
    for number in range(300):
        around = [f"w{n}" for n in rng.integers(300, size=12)]
        around[6:6] = ["new", "york"] * (number % 20 == 0) + ["new_york", "new_york_"]
        texts.append(" ".join(around))
    (tmp_path / "a.txt").write_text("\n".join(texts))
    data = load_words(WordsConfig(path=str(tmp_path / "a.txt"), lines=True, phrases=1))
    tokens = data.preprocessor.tokenizer.tokens  # type: ignore[attr-defined]
    assert {"new_york", "new_york_", "new_york__"} <= set(tokens)
    assert data.notes[-1] == "1 phrase: new_york__"  # words with an underscore are none
