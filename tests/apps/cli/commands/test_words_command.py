"""`netwright words` as a person types it."""

import json
from pathlib import Path

from netwright.data.words.vector_files import save_vectors
from tests.apps.cli.conftest import Type
from tests.data.words.test_word_vectors import WORDS


def test_questions_are_answered_in_lines_and_as_json(type_in: Type, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    save_vectors(path, WORDS)
    assert (
        type_in("words", str(path), "similar", "man", "-n", "1").out
        == "king                 0.7071\n"
    )
    told = json.loads(type_in("words", str(path), "analogy", "king", "man", "woman", "--json").out)
    assert told[0]["word"] == "queen"
    assert type_in("words", str(path), "odd-one-out", "king", "apple", "queen").out == "apple\n"


def test_an_unknown_word_is_refused_in_a_sentence(type_in: Type, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    save_vectors(path, WORDS)
    said = type_in("words", str(path), "similar", "quen")
    assert said.code == 2
    assert "'quen' is not in the vocabulary; did you mean 'queen'?" in said.err


def test_vectors_are_evaluated_on_a_file_of_pairs_or_analogies(
    type_in: Type, tmp_path: Path
) -> None:
    save_vectors(tmp_path / "vectors.txt", WORDS)
    (tmp_path / "pairs.tsv").write_text("man\tking\t9\nking\tqueen\t8\nking\tapple\t1\n")
    (tmp_path / "royal.txt").write_text("man king woman queen\nman king woman nobody\n")
    asked = ("words", str(tmp_path / "vectors.txt"), "evaluate")
    said = type_in(*asked, str(tmp_path / "royal.txt"))
    assert said.out == f"{'royal.txt':<40} 1.000  (1 of 2 are known)\n"
    files = (str(tmp_path / "pairs.tsv"), str(tmp_path / "royal.txt"))
    pairs, analogies = json.loads(type_in(*asked, *files, "--json").out)
    assert pairs["test"] == "pairs.tsv"
    assert 0 < pairs["score"] < 1
    assert analogies == {"test": "royal.txt", "score": 1.0, "used": 1, "total": 2}
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "royal.txt").write_text("man king woman apple\n")
    both = (str(tmp_path / "royal.txt"), str(tmp_path / "mine" / "royal.txt"))
    found = json.loads(type_in(*asked, *both, "--json").out)
    assert [(one["test"], one["score"]) for one in found] == [(both[0], 1.0), (both[1], 0.0)]
