"""Sentences with tags: a tag a word, nothing at padding, and long sentences go on."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.spec import IGNORED
from netwright.data.text.conllu import Sentence
from netwright.data.text.tag_encoder import TagEncoder
from netwright.data.text.tokenizer import PAD, UNK
from netwright.data.text.word_tokenizer import WordTokenizer

ENCODER = TagEncoder(
    tokenizer=WordTokenizer.fit_words([["dogs", "run", "fast"]]),  # dogs fast run = 4 5 6
    length=2,
    tags=("ADV", "NOUN", "VERB"),
)
SENTENCES = [
    Sentence(words=("dogs", "run", "fast"), tags=("NOUN", "VERB", "ADV")),
    Sentence(words=("cats",), tags=("NOUN",)),
]


def test_every_word_has_its_token_and_its_tag_once() -> None:
    assert ENCODER.encode(SENTENCES).tolist() == [[4, 6], [5, PAD], [UNK, PAD]]
    assert ENCODER.encode_targets(SENTENCES).tolist() == [[1, 2], [0, IGNORED], [1, IGNORED]]
    assert ENCODER.decode(ENCODER.encode(SENTENCES))[0] == {"text": "dogs run"}


def test_words_come_in_lists_and_texts_too_and_tags_in_lists() -> None:
    wanted = ENCODER.encode(SENTENCES).tolist()
    assert ENCODER.encode(["dogs run fast", "cats"]).tolist() == wanted
    assert ENCODER.encode([["dogs", "run", "fast"], ["cats"]]).tolist() == wanted
    tags = [["NOUN", "VERB", "ADV"], ["NOUN"]]
    assert ENCODER.encode_targets(tags).tolist() == ENCODER.encode_targets(SENTENCES).tolist()


def test_a_sentence_without_words_is_one_unknown_word_that_does_not_count() -> None:
    assert ENCODER.encode([""]).tolist() == [[UNK, PAD]]
    assert ENCODER.encode_targets([[]]).tolist() == [[IGNORED, IGNORED]]


def test_the_spec_names_tags_and_padding() -> None:
    spec = ENCODER.spec
    assert (spec.target, spec.num_outputs, spec.class_names) == ("tags", 3, ENCODER.tags)
    assert (spec.vocab_size, spec.padding, spec.input_shape) == (7, PAD, (2,))


def test_unknown_words_are_told_and_unknown_tags_refused() -> None:
    assert ENCODER.remarks(SENTENCES) == ("25 % of the words are unknown",)
    with pytest.raises(DataError, match=r"^unknown tag 'NOUNS'; did you mean 'NOUN'\?$"):
        ENCODER.encode_targets([["NOUNS"]])
    sentence = "sentences must be the path of a .conllu file, or a list of them, got int"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        ENCODER.encode(3)


def test_files_are_read_with_their_tags_and_have_one_encoding(tmp_path: Path) -> None:
    lines = ["1\tdogs\t_\tNOUN", "2\trun\t_\tVERB", "3\tfast\t_\tADV", "", "1\tcats\t_\tNOUN"]
    rows = [line + "\t_" * 6 if line else "" for line in lines]
    (tmp_path / "a.conllu").write_text("\n".join(rows) + "\n\n", encoding="utf-8")
    for source in (tmp_path, str(tmp_path / "a.conllu")):
        assert ENCODER.encode(source).tolist() == ENCODER.encode(SENTENCES).tolist()
        assert ENCODER.encode_targets(source).tolist() == ENCODER.encode_targets(SENTENCES).tolist()
    sentence = r"^a CoNLL-U file is always UTF-8: encoding cannot be set$"
    with pytest.raises(ConfigError, match=sentence):
        ENCODER.reading(encoding="latin-1")


def test_a_sentence_of_one_word_is_one_example_however_short_these_are() -> None:
    short = replace(ENCODER, length=1)
    assert short.encode(["cats", "dogs run", ""]).shape == (4, 1)
    assert short.encode_targets([["NOUN"], ["NOUN", "VERB"], []]).shape == (4, 1)
