"""Text for a language model: windows, targets one place later, prompts."""

import re
from pathlib import Path

import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.spec import IGNORED
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.corpus_encoder import CorpusEncoder, stream_of
from netwright.data.text.tokenizer import EOS

LETTERS = CharTokenizer.fit(["abcdef"])
ENCODER = CorpusEncoder(tokenizer=LETTERS, length=3)


def test_one_text_is_a_stream_and_several_end_each() -> None:
    assert stream_of(["abc"], LETTERS).tolist() == [4, 5, 6]
    assert stream_of(["ab", "c"], LETTERS).tolist() == [4, 5, EOS, 6, EOS]


def test_new_text_is_scored_once_at_every_token() -> None:
    assert ENCODER.encode(["abcdef"]).tolist() == [[4, 5, 6], [6, 7, 8]]
    assert ENCODER.encode_targets(["abcdef"]).tolist() == [[5, 6, 7], [IGNORED, 8, 9]]
    assert ENCODER.decode(ENCODER.encode(["abcdef"]))[0] == {"text": "abc"}


def test_a_path_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("abcd", encoding="utf-8")
    assert torch.equal(ENCODER.encode(tmp_path / "a.txt"), ENCODER.encode(["abcd"]))
    assert torch.equal(ENCODER.encode(str(tmp_path)), ENCODER.encode(["abcd"]))


def test_the_spec_is_that_of_a_language_model() -> None:
    spec = ENCODER.spec
    assert (spec.inputs, spec.target, spec.input_shape) == ("tokens", "tokens", (3,))
    assert spec.num_outputs == spec.vocab_size == LETTERS.size
    assert spec.padding is None


def test_a_prompt_is_one_row_of_tokens_of_any_length() -> None:
    assert ENCODER.prompt("abcdefa").tolist() == [[4, 5, 6, 7, 8, 9, 4]]
    with pytest.raises(ConfigError, match=r"^a prompt must have at least one token, got ''$"):
        ENCODER.prompt("")


def test_unknown_tokens_are_told() -> None:
    assert ENCODER.remarks(["abxy"]) == ("50 % of the tokens are unknown",)
    assert ENCODER.remarks(["abc"]) == ()


def test_what_is_no_text_is_refused() -> None:
    sentence = "text must be the path of a file or folder, or texts in a list, got Tensor"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        ENCODER.encode(torch.zeros(3))


def test_one_long_text_becomes_a_stream_without_a_list_of_its_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tokenizer = CharTokenizer.fit(["abc"])
    wanted = tokenizer.encode("cab?")

    def list_of_all(self: CharTokenizer, text: str) -> list[int]:
        raise AssertionError("it takes as much memory as the stream itself")

    monkeypatch.setattr(CharTokenizer, "encode", list_of_all)
    stream = stream_of(["cab?"], tokenizer)
    assert (stream.tolist(), stream.dtype) == (wanted, torch.int64)
