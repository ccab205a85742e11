"""What is asked of word vectors: by name, with as many words as it takes."""

from pathlib import Path

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.recipes.run.run_words import ask_words, open_words, vectors_of
from tests.data.words.test_word_vectors import WORDS


def test_questions_are_answered(tmp_path: Path) -> None:
    def ask(question: str, *given: str, form: str = "text") -> object:
        return ask_words(WORDS, question, given, count=1, form=form)

    assert ask("analogy", "king", "man", "woman")[0]["word"] == "queen"  # type: ignore[index]
    assert ask("similar", "man")[0]["word"] == "king"  # type: ignore[index]
    assert ask("odd-one-out", "king", "apple", "queen") == "apple"
    ask("save", str(tmp_path / "v.txt"))
    assert open_words(tmp_path / "v.txt").words == WORDS.words
    for question, given, form, said in (
        ("similr", ("man",), "text", "did you mean 'similar'"),
        ("analogy", ("man",), "text", "analogy takes 3 argument"),
        ("save", (str(tmp_path / "w"),), "csv", "format must be one of text, binary, glove"),
    ):
        with pytest.raises(ConfigError, match=said):
            ask(question, *given, form=form)


def test_a_run_has_the_vectors_of_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))
    (tmp_path / "a.txt").write_text("to be or not to be " * 50)
    run = nw.fit(
        "word2vec",
        str(tmp_path / "a.txt"),
        dim=3,
        epochs=1,
        save=False,
        quiet=True,
        version="plain",
    )
    vectors = vectors_of(run)
    assert set(vectors.words) == {"to", "be", "or", "not"}
    assert vectors.vectors.shape == (4, 3)
    blobs = nw.fit("softmax", "blobs", epochs=1, save=False, quiet=True)
    with pytest.raises(ConfigError, match="has no word vectors"):
        vectors_of(blobs)
