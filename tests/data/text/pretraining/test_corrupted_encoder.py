"""How texts with sentinels are read, and their spans written."""

from dataclasses import replace

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.catalog import PREPROCESSORS
from netwright.data.text.pretraining.corrupted_encoder import CorruptedEncoder
from netwright.data.text.pretraining.sentinel_tokenizer import SentinelTokenizer
from netwright.data.text.tokenizer import BOS, PAD
from netwright.data.text.word_tokenizer import WordTokenizer

PLAIN = WordTokenizer.fit(["a b c"])
SENTINELS = SentinelTokenizer.around(PLAIN, 2)
ENCODER = CorruptedEncoder(source=SENTINELS, target=SENTINELS, source_length=4, target_length=3)


def test_a_text_of_ones_own_has_sentinels_and_what_is_said_is_written_with_them() -> None:
    encoded = ENCODER.encode(["a <extra_id_0> c"])
    assert encoded[0, :4].tolist() == [4, 7, 6, PAD]
    assert int(encoded[0, 4]) == BOS
    assert ENCODER.write(encoded[:, 1:3]) == ["<extra_id_0> c"]
    assert ENCODER.spec.sentinels == 2


def test_it_comes_back_from_json_and_one_without_sentinels_is_refused() -> None:
    kind = PREPROCESSORS.load("corrupted-text")
    assert kind.from_json(ENCODER.to_json()) == ENCODER
    for broken in (
        replace(ENCODER, source=PLAIN, target=PLAIN),
        replace(ENCODER, target=PLAIN),
    ):
        with pytest.raises(DataError, match="one tokenizer with sentinels"):
            broken.check_numbers()


def test_a_file_has_no_spans_to_measure() -> None:
    with pytest.raises(ConfigError, match="measured on spans of its own data alone"):
        ENCODER.read_labelled("corpus.txt")
