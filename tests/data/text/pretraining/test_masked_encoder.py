"""The encoder of masked text: its JSON, how masks are shown, and that it reads nothing new."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.pretraining.masked_encoder import MaskedEncoder
from netwright.data.text.tokenizer import BOS, EOS
from netwright.data.text.word_tokenizer import WordTokenizer

ENCODER = MaskedEncoder(tokenizer=WordTokenizer.fit(["a dog and a cat"]), length=7)


def test_it_travels_as_json() -> None:
    assert TextEncoder.from_json(ENCODER.to_json()) == ENCODER
    assert ENCODER.spec.vocab_size == ENCODER.spec.num_outputs + 1


def test_masks_are_shown_by_their_name() -> None:
    a, dog = ENCODER.tokenizer.encode("a dog")
    mask = ENCODER.tokenizer.size
    rows = torch.tensor([[BOS, a, mask, EOS, dog, mask, EOS]])
    assert ENCODER.decode(rows) == [{"text": "a [MASK] dog [MASK] "}]


def test_new_texts_are_refused() -> None:
    for read in (ENCODER.encode, ENCODER.encode_targets, ENCODER.read):
        with pytest.raises(ConfigError, match=r"^a run of pre-training has nothing to predict"):
            read(["a dog"])
