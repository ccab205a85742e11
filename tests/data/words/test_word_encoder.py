"""Words by number: known and unknown ones, a round trip by JSON, and refusals."""

from pathlib import Path

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.word_tokenizer import WordTokenizer
from netwright.data.words.word_encoder import WordEncoder

TOKENIZER = WordTokenizer.fit(["the cat the dog"], lower=True)
ENCODER = WordEncoder(tokenizer=TOKENIZER, length=4)


def test_texts_and_files_become_words(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The dog!")
    known = TOKENIZER.places
    assert ENCODER.encode(tmp_path / "a.txt").tolist() == [[known["the"], known["dog"], 1, 0]]
    assert ENCODER.encode(["cat"]).tolist() == [[known["cat"], 0, 0, 0]]
    assert ENCODER.remarks(["cat bird"]) == ("50 % of the words are unknown",)
    assert ENCODER.remarks(["cat"]) == ()


def test_it_travels_as_json() -> None:
    assert TextEncoder.from_json(ENCODER.to_json()) == ENCODER
    assert (ENCODER.spec.target, ENCODER.spec.vocab_size) == ("none", 7)


def test_targets_and_other_things_are_refused() -> None:
    with pytest.raises(ConfigError, match="words have no targets"):
        ENCODER.encode_targets(["cat"])
    with pytest.raises(DataError, match="got int"):
        ENCODER.encode(3)
