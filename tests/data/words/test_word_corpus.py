"""A corpus as words: counted, renumbered, rare ones left out, streamed; and refusals."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from netwright.core.config import parse
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data
from netwright.data.text.tokenizer import EOS, PAD, SPECIALS
from netwright.data.words import word_corpus
from netwright.data.words.word_corpus import WordsConfig, load_words
from netwright.data.words.word_stream import WordStream


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))


def load(path: Path, text: str | None = None, **settings: object) -> Data:
    if text is not None:
        path.write_text(text, encoding="utf-8")
    return load_words(parse(WordsConfig, {"path": str(path), **settings}))


def words_of(data: Data) -> list[str]:
    stream = data.train
    assert isinstance(stream, WordStream)
    tokens = data.preprocessor.tokenizer.tokens  # type: ignore[attr-defined]
    return [tokens[word] for word in stream.words if word != PAD]


def test_rare_words_are_left_out_and_common_ones_come_first(tmp_path: Path) -> None:
    data = load(tmp_path / "a.txt", "To be, or not to be; that is BE.", min_count=2)
    assert data.preprocessor.tokenizer.tokens == (*SPECIALS, "be", "to")  # type: ignore[attr-defined]
    assert words_of(data) == ["to", "be", "to", "be", "be", SPECIALS[EOS]]
    assert data.spec.target == "none"
    assert data.notes[0] == "9 words, 2 different ones are kept"
    assert data.notes[1].startswith("4 words are left out")


def test_the_stream_is_that_of_a_simple_count_however_it_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    text = " ".join(f"w{word}" for word in rng.zipf(1.5, 3000) if word < 500)
    counts = Counter(text.split())
    wanted = [word for word in text.split() if counts[word] >= 3]
    for chunk in (7, 2**20):
        monkeypatch.setattr(word_corpus, "CHUNK", chunk)
        assert words_of(load(tmp_path / "b.txt", text, min_count=3))[:-1] == wanted


def test_lines_and_files_end_a_text(tmp_path: Path) -> None:
    end = SPECIALS[EOS]
    lines = load(tmp_path / "c.txt", "a b\nb a\n", min_count=1, lines=True)
    assert words_of(lines) == ["a", "b", end, "b", "a", end, end]
    assert lines.preprocessor.tokenizer.tokens == (*SPECIALS, "a", "b")  # type: ignore[attr-defined]
    assert lines.notes == ("4 words, 2 different ones are kept", "0 words are left out as too rare")
    (tmp_path / "folder").mkdir()
    for name in ("1.txt", "2.txt"):
        (tmp_path / "folder" / name).write_text("a b\nc")
    assert words_of(load(tmp_path / "folder", min_count=1)) == [*"abc", end, *"abc", end]


def test_words_are_split_at_blanks_or_marks(tmp_path: Path) -> None:
    text = "It's re-made, again ."
    found = load(tmp_path / "d.txt", text, min_count=1, lower=False)
    assert words_of(found)[:-1] == ["It's", "re-made", "again"]
    found = load(tmp_path / "d.txt", text, min_count=1, split_at="spaces")
    assert words_of(found)[:-1] == ["it's", "re-made,", "again", "."]


def test_a_published_corpus_is_named() -> None:
    data = load_words(WordsConfig(path="sst2"))
    assert data.name == "sst2"
    assert len(data.preprocessor.tokenizer.tokens) > 1000  # type: ignore[attr-defined]


def test_nothing_is_left_in_the_cache(tmp_path: Path) -> None:
    load(tmp_path / "e.txt", "a b a b", min_count=1)
    assert list((tmp_path / "home" / "words").iterdir()) == []


def test_what_has_no_words_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="path is empty"):
        load_words(WordsConfig())
    with pytest.raises(DataError, match=r"f.txt: 0 words occur min_count=5 times.*lower min_count"):
        load(tmp_path / "f.txt", "one two three")
    with pytest.raises(DataError, match=r"g\.txt: there are no words in it"):
        load(tmp_path / "g.txt", "")
    with pytest.raises(DataError, match="1 words occur"):
        load(tmp_path / "h.txt", "a a a a a a")
    monkeypatch.setattr(word_corpus, "MOST_WORDS", 2)
    with pytest.raises(DataError, match="more than 2 different words"):
        load(tmp_path / "i.txt", "one two three")
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "f.txt"))
    with pytest.raises(DataError, match="cannot be stored"):
        load(tmp_path / "g.txt", "a b", min_count=1)
