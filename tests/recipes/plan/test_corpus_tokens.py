"""The tokenizer of a corpus: fitted by its name, or one that exists, by its path."""

import json
from pathlib import Path

import pytest

from netwright.core.errors import ConfigError, DataError, UnknownNameError
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.shards.index import VOCABULARY
from netwright.data.text.subword_tokenizer import BytePairTokenizer
from netwright.recipes.plan.corpus_tokens import FittedTokens, corpus_tokens


def test_a_name_is_fitted() -> None:
    found = corpus_tokens("bpe", vocab_size=300, lower=True)
    assert found == FittedTokens(tokenizer="bpe", vocab_size=300, lower=True)
    with pytest.raises(UnknownNameError, match="unknown tokenizer 'chra'; did you mean 'char'"):
        corpus_tokens("chra")


def test_token_files_have_one(tmp_path: Path) -> None:
    ours = CharTokenizer.fit(["abc"])
    (tmp_path / VOCABULARY).write_text(json.dumps(ours.to_json()))
    assert corpus_tokens(str(tmp_path)) == ours
    for settings in ({"lower": True}, {"vocab_size": 300}):
        with pytest.raises(ConfigError, match="--lower and --vocab-size are for a tokenizer that"):
            corpus_tokens(str(tmp_path), **settings)


def test_a_tokenizer_json_of_byte_pairs_is_read(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    ours = BytePairTokenizer.fit(["some text, some words"], vocab_size=280)
    (tmp_path / "tokenizer.json").write_text(ours.library_json())
    assert corpus_tokens(str(tmp_path / "tokenizer.json")) == ours


def test_another_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="vocabulary must be the folder of a run on texts"):
        corpus_tokens(str(tmp_path))
