"""Tests of word vectors: scores by hand and by scipy, unknown words left out, and refusals."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from netwright.core.errors import ConfigError, DataError
from netwright.data.words.word_tests import find_tests, score_file
from netwright.data.words.word_vectors import WordVectors
from tests.data.words.test_word_vectors import WORDS


def scores_of(tmp_path: Path, text: str, vectors: WordVectors = WORDS):  # type: ignore[no-untyped-def]
    (tmp_path / "test.txt").write_text(text)
    return score_file(vectors, "test", tmp_path / "test.txt")


def test_likeness_is_spearmans_correlation_of_the_pairs_that_are_known(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = tuple(f"w{place}" for place in range(30))
    vectors = WordVectors(words=names, vectors=rng.standard_normal((30, 4)).astype(np.float32))
    pairs = [(2 * place, 2 * place + 1, int(rng.integers(0, 9))) for place in range(15)]
    text = "# a comment\n" + "".join(f"W{a}\tw{b}\t{score}\n" for a, b, score in pairs)
    (found,) = scores_of(tmp_path, text + "w0\tunknown\t3.5\n", vectors)
    units = vectors.vectors / np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    expected = spearmanr(
        [float(units[a] @ units[b]) for a, b, _ in pairs], [score for *_, score in pairs]
    )
    assert found.score == pytest.approx(float(expected.statistic), abs=1e-12)
    assert (found.used, found.total) == (15, 16)


def test_simlex_is_read_as_it_is_published(tmp_path: Path) -> None:
    """A head, and ten columns: the score is the fourth, other numbers follow it."""
    head = "word1\tword2\tPOS\tSimLex999\tconc(w1)\tconc(w2)\tconcQ\tAssoc(USF)\tSimAssoc333\tSD"
    rows = [f"king\t{other}\tN\t{score}\t{9 - score}\t2\t1\t7\t1\t0.4" for other, score in
            (("queen", 8.5), ("man", 4.25), ("apple", 0.5))]  # fmt: skip
    (found,) = scores_of(tmp_path, "\n".join([head, *rows, ""]))
    (short,) = scores_of(tmp_path, "king\tqueen\t8.5\nking\tman\t4.25\nking\tapple\t0.5\n")
    assert found == short
    assert found.total == 3
    with pytest.raises(DataError, match="not word, word and score"):
        scores_of(tmp_path, "\n".join([head, *rows, "king\tapple\tN\tmuch"]))


def test_analogies_are_counted_in_all_and_by_section(tmp_path: Path) -> None:
    total, royal, wrong = scores_of(
        tmp_path,
        ": royal\nMan King Woman Queen\nking man queen woman\n: wrong\nman king woman apple\n"
        "man king woman unknown\n",
    )
    assert (total.test, total.score, total.used, total.total) == ("test", 2 / 3, 3, 4)
    assert (royal.test, royal.score) == ("test: royal", 1.0)
    assert (wrong.score, wrong.used, wrong.total) == (0.0, 1, 2)


def test_a_test_of_unknown_words_has_no_score(tmp_path: Path) -> None:
    for text in ("x\ty\t3\n", "x y z w\n"):
        (found,) = scores_of(tmp_path, text)
        assert found.score is None
        assert (found.used, found.total) == (0, 1)


def test_files_that_are_no_test_are_refused(tmp_path: Path) -> None:
    for text, said in (
        ("\n# nothing\n", "test.txt: it is empty"),
        ("king\tqueen\n", "not word, word and score"),
        ("king\tqueen\tnan\n", "not word, word and score"),
        ("king queen man\n", "has 3 words, an analogy has 4"),
        (": royal\n", "it has no analogy"),
    ):
        with pytest.raises(DataError, match=said):
            scores_of(tmp_path, text)


def test_published_tests_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path))
    with pytest.raises(ConfigError, match="WordSim-353: no folder of NETWRIGHT_DATA holds"):
        find_tests()
    (tmp_path / "word-similarity").mkdir()
    for name in ("wordsim353.tsv", "simlex999.txt", "questions-words.txt"):
        (tmp_path / "word-similarity" / name).write_text("king\tqueen\t7\n")
    assert list(find_tests()) == ["WordSim-353", "SimLex-999", "analogies"]
