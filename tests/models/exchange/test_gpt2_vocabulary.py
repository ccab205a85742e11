"""GPT-2's vocabulary behind our special tokens: the same pieces of text, each with its own row."""

import json
from typing import Any

import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.text.subword_tokenizer import BytePairTokenizer
from netwright.models.exchange.gpt2_vocabulary import END, read_vocabulary
from tests.repetition import for_each

library = pytest.importorskip("tokenizers")

TEXT = "the quick brown fox jumps over the lazy dog "


def theirs() -> dict[str, Any]:
    """A tokenizer.json as GPT-2's: bytes, joined pairs, and the end of a text as the last token."""
    pre = library.pre_tokenizers.ByteLevel
    tokenizer = library.Tokenizer(library.models.BPE())
    tokenizer.pre_tokenizer = pre(add_prefix_space=False)
    trainer = library.trainers.BpeTrainer(
        vocab_size=280, initial_alphabet=sorted(pre.alphabet()), show_progress=False
    )
    tokenizer.train_from_iterator([TEXT * 9], trainer)
    told: dict[str, Any] = json.loads(tokenizer.to_str())
    told["model"]["vocab"][END] = len(told["model"]["vocab"])
    return told


def test_each_token_keeps_its_text_and_its_row() -> None:
    told = theirs()
    tokenizer = library.Tokenizer.from_str(json.dumps(told))
    vocabulary = read_vocabulary(told)
    ours = vocabulary.tokenizer
    for text in (TEXT, "Äpfel, <eos>\n", "  two  blanks"):
        assert vocabulary.places[ours.encode(text)].tolist() == tokenizer.encode(text).ids
        assert ours.decode(ours.encode(text)) == text
    end = told["model"]["vocab"][END]
    assert vocabulary.places[:4].tolist() == [end] * 4
    assert sorted(vocabulary.places[3:].tolist()) == list(range(end + 1))


def test_tables_of_tokens_are_reordered_and_nothing_else() -> None:
    vocabulary = read_vocabulary(theirs())
    rows = torch.arange(len(vocabulary.places) - 3.0)[:, None]
    given = {"wte.weight": rows, "head.weight": -rows, "wpe.weight": rows}
    found = vocabulary.reordered(given)
    assert torch.equal(found["wte.weight"][:, 0].long(), vocabulary.places)
    assert torch.equal(found["head.weight"], -found["wte.weight"])
    assert found["wpe.weight"] is rows


def test_a_vocabulary_of_ours_stays_as_it_is() -> None:
    ours = BytePairTokenizer.fit([TEXT * 9], vocab_size=280)
    vocabulary = read_vocabulary(json.loads(ours.library_json()))
    assert vocabulary.tokenizer == ours
    assert vocabulary.places.tolist() == list(range(280))


@for_each(
    ("change", "sentence"),
    [
        (lambda told: [], "must be byte-level BPE"),
        (lambda told: {**told, "model": {"type": "WordPiece"}}, "must be byte-level BPE"),
        (lambda told: {**told, "pre_tokenizer": None}, "must be byte-level BPE"),
        (lambda told: {**told, "normalizer": {"type": "Lowercase"}}, "must be byte-level BPE"),
        (lambda told: {**told, "model": {"type": "BPE"}}, "must have a vocabulary and merges"),
        (
            lambda told: {**told, "model": {**told["model"], "vocab": {"a": 0, "b": 2}}},
            "must be numbered from 0 on",
        ),
        (
            lambda told: {**told, "model": {**told["model"], "vocab": {"a": 0, "b": [1]}}},
            "must be numbered from 0 on",
        ),
        (
            lambda told: {**told, "model": {**told["model"], "vocab": {"a": 0}}},
            "must have the token <|endoftext|>",
        ),
    ],
)
def test_another_tokenizer_is_refused(change: Any, sentence: str) -> None:
    with pytest.raises(DataError) as refused:
        read_vocabulary(change(theirs()))
    assert sentence in str(refused.value)
