"""The file that an embedding starts from is a setting of every model of tokens."""

import pytest

from netwright.core.config import describe
from netwright.core.errors import ConfigError
from netwright.models.catalog import MODELS
from netwright.models.first_vectors import FirstVectorsConfig


def test_models_of_texts_have_the_setting_and_others_have_not() -> None:
    have = {
        name
        for name in MODELS
        if "embeddings" in {field.name for field in describe(MODELS.load(name).settings)}
    }
    wanted = {"text-cnn", "bag-of-vectors", "time-delay", "lstm", "gru", "lru", "gpt", "bert"}
    assert wanted <= have
    assert not {"mlp", "cnn", "word2vec", "ngram"} & have


def test_a_name_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(ConfigError, match="embeddings must not contain a NUL"):
        FirstVectorsConfig(embeddings="a\0b")
