"""Sentences with tags: a tag a word, nothing at padding, and long sentences go on."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.spec import IGNORED
from netwright.data.text.char_tokenizer import CharTokenizer
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


PLACES = torch.tensor([[1, 2], [0, IGNORED], [1, IGNORED]])


def test_every_word_has_its_token_and_its_tag_once() -> None:
    assert ENCODER.encode(SENTENCES).tolist() == [[4, 6], [5, PAD], [UNK, PAD]]
    assert ENCODER.encode_targets(SENTENCES).tolist() == [[1, 2], [0, IGNORED], [1, IGNORED]]
    assert ENCODER.decode(ENCODER.encode(SENTENCES))[0] == {"text": "dogs run"}


def test_words_come_in_lists_and_texts_too_and_tags_in_lists() -> None:
    wanted, places = (part.tolist() for part in (ENCODER.encode(SENTENCES), PLACES))
    assert ENCODER.encode(["dogs run fast", "cats"]).tolist() == wanted
    assert ENCODER.encode([["dogs", "run", "fast"], ["cats"]]).tolist() == wanted
    tags = [["NOUN", "VERB", "ADV"], ["NOUN"]]
    for sentences in (["dogs run fast", "cats"], [["dogs", "run", "fast"], ["cats"]]):
        inputs, targets = ENCODER.encode_pairs(sentences, tags)
        assert (inputs.tolist(), targets.tolist()) == (wanted, places)
    with pytest.raises(DataError, match=r"^there are 1 sentences but 2 lists of tags$"):
        ENCODER.encode_pairs(["dogs run fast"], tags)
    with pytest.raises(DataError, match=r"^sentence 1 has 2 words but 1 tags$"):
        ENCODER.encode_pairs(["dogs run fast", "two cats"], tags)
    with pytest.raises(DataError, match=r"^sentence 0 has 3 words but 0 tags$"):
        ENCODER.encode_targets(["dogs run fast"])


def test_a_word_of_several_tokens_has_its_tag_at_the_first() -> None:
    pieces = CharTokenizer.fit(["dogsrunfast"])
    encoder = replace(ENCODER, tokenizer=pieces, length=5)
    sentences = [Sentence(words=("dogs", "run"), tags=("NOUN", "VERB")), SENTENCES[1]]
    inputs, targets = encoder.encode(sentences), encoder.encode_targets(sentences)
    assert inputs.shape == targets.shape == (3, 5)  # dogsr un cats
    assert inputs[0].tolist() == pieces.encode("dogsr")
    gap = IGNORED
    assert targets.tolist() == [[1, gap, gap, gap, 2], [gap] * 5, [1, gap, gap, gap, gap]]
    said = torch.where(targets == IGNORED, 0, targets)  # what is said elsewhere does not count
    assert encoder.write(said, sentences) == [["NOUN", "VERB"], ["NOUN"]]
    assert encoder.sizes(sentences) == [7, 4]
    assert encoder.remarks([["dogs", "", "Xrun"]]) == ("66.7 % of the words are unknown",)


def test_a_sentence_without_words_is_one_unknown_word_that_does_not_count() -> None:
    assert ENCODER.encode([""]).tolist() == [[UNK, PAD]]
    assert ENCODER.encode_targets([""]).tolist() == [[IGNORED, IGNORED]]
    assert ENCODER.write(torch.zeros(1, 2).long(), [""]) == [[]]


def test_the_spec_names_tags_and_padding() -> None:
    spec = ENCODER.spec
    assert (spec.target, spec.num_outputs, spec.class_names) == ("tags", 3, ENCODER.tags)
    assert (spec.vocab_size, spec.padding, spec.input_shape) == (7, PAD, (2,))


def test_unknown_words_are_told_and_unknown_tags_refused() -> None:
    assert ENCODER.remarks(SENTENCES) == ("25 % of the words are unknown",)
    with pytest.raises(DataError, match=r"^unknown tag 'NOUNS'; did you mean 'NOUN'\?$"):
        ENCODER.encode_pairs(["dogs"], [["NOUNS"]])
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
    tags = [["NOUN"], ["NOUN", "VERB"], []]
    assert short.encode_pairs(["cats", "dogs run", ""], tags)[1].shape == (4, 1)
