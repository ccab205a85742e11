"""What encoders of text share: one length, padding, and the right form back from JSON."""

import json
from dataclasses import replace

import pytest
import torch

from netwright.core.errors import ConfigError, DataError, UnknownNameError
from netwright.data.catalog import PREPROCESSORS
from netwright.data.text.corpus_encoder import CorpusEncoder
from netwright.data.text.encoder import FORMS, TextEncoder, filled, padded, share
from netwright.data.text.row_encoder import RowEncoder
from netwright.data.text.tag_encoder import TagEncoder
from netwright.data.text.tokenizer import PAD, UNK
from netwright.data.text.word_tokenizer import WordTokenizer
from tests.repetition import for_each

WORDS = WordTokenizer.fit(["the cat sat"])
ENCODERS = (
    CorpusEncoder(tokenizer=WORDS, length=8),
    TagEncoder(tokenizer=WORDS, length=4, tags=("A", "B")),
    RowEncoder(
        tokenizer=WORDS,
        length=4,
        column="text",
        target="class",
        target_columns=("kind",),
        class_names=("no", "yes"),
        inputs="tf-idf",
        weights=(0.1, 1 / 3, 2.0),
    ),
)


@pytest.mark.parametrize("encoder", ENCODERS, ids=lambda one: one.form)
def test_every_form_comes_back_from_json_as_itself(encoder: TextEncoder) -> None:
    values = json.loads(json.dumps(encoder.to_json()))
    assert PREPROCESSORS.load(encoder.kind).from_json(values) == encoder
    assert FORMS.load(encoder.form) is type(encoder)


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"^unknown form of text 'row'; did you mean 'rows'"):
        TextEncoder.from_json({**ENCODERS[0].to_json(), "form": "row"})


@pytest.mark.parametrize("encoder", [ENCODERS[0], ENCODERS[2]], ids=lambda one: one.form)
def test_texts_may_be_in_another_encoding_and_have_no_other_setting(encoder: TextEncoder) -> None:
    assert encoder.reading(encoding="latin-1").encoding == "latin-1"
    sentence = "^thousands is for tables of numbers, this run reads texts$"
    with pytest.raises(ConfigError, match=sentence):
        encoder.reading(encoding="latin-1", thousands=",")


def test_long_rows_are_cut_and_short_ones_filled() -> None:
    assert filled([[1, 2, 3], [4], []], 2, -1).tolist() == [[1, 2], [4, -1], [-1, -1]]
    assert padded([[5, 6, 7], [8], []], 2).tolist() == [[5, 6], [8, PAD], [UNK, PAD]]
    assert padded([[5]], 1).dtype == torch.int64


def test_tokens_are_read_as_text_and_have_no_units() -> None:
    encoder = ENCODERS[0]
    assert encoder.decode(torch.tensor([[4, 6, PAD]])) == [{"text": "cat the"}]
    offset, scale = encoder.units()
    assert offset.tolist() == [0] * 8 and scale.tolist() == [1] * 8


def test_shares_are_said_in_per_cent() -> None:
    assert (share(1, 8), share(0, 5), share(1, 3000)) == ("12.5 %", "0 %", "0.0333 %")
    assert (share(0, 0), share(7, 7)) == ("0 %", "100 %")


@for_each("encoder", ENCODERS, ids=lambda one: one.form)
@for_each("length", [0, -1, 10**12])
def test_a_length_that_no_training_gives_is_refused(encoder: TextEncoder, length: int) -> None:
    encoder.check_numbers()
    with pytest.raises(DataError, match=r"length of a saved encoder|an example holds"):
        replace(encoder, length=length).check_numbers()
