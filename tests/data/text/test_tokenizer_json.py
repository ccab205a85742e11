"""Each tokenizer reads the same tokens from its tokenizer.json as by itself."""

from typing import Any

import pytest

from netwright.core.errors import DataError
from netwright.data.text.catalog import AROUND_OTHERS, TOKENIZERS
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.pretraining.framing import frame_pair
from netwright.data.text.pretraining.sentinel_tokenizer import SentinelTokenizer
from netwright.data.text.tokenizer import BOS, EOS
from netwright.data.text.tokenizer_json import (
    WRITERS,
    framing_config,
    framing_json,
    to_tokenizer_json,
    tokenizer_config,
)
from tests.repetition import for_each

library = pytest.importorskip("tokenizers")

TEXTS = [
    "The quick fox, it's re-made:\n\njumps over  the lazy dog.\n",
    "Äpfel\tund <b>Birnen</b>\n",
]
NEW = ["The dog jumps; zzz!\n", "", "\n", "it\u2019s Äpfel \u4e2d"]
CASES: list[tuple[str, dict[str, Any]]] = [
    ("char", {}),
    ("char", {"lower": True}),
    ("word", {}),
    ("word", {"lower": True, "min_count": 2}),
    ("word", {"line_ends": True}),
    ("word", {"split_at": "spaces"}),
    ("word", {"split_at": "spaces", "line_ends": True}),
    ("bpe", {"vocab_size": 280}),
    ("wordpiece", {"vocab_size": 120, "lower": True}),
]


@for_each(("kind", "settings"), CASES, ids=str)
def test_the_file_reads_the_same_tokens(kind: str, settings: dict[str, Any]) -> None:
    ours = TOKENIZERS.load(kind).fit(TEXTS, **settings)
    theirs = library.Tokenizer.from_str(to_tokenizer_json(ours))
    for text in [*TEXTS, *NEW]:
        assert theirs.encode(text).ids == ours.encode(text), text
    if kind != "word":  # of words, how many blanks there were is lost
        text = TEXTS[0].lower()
        assert theirs.decode(ours.encode(text)) == ours.decode(ours.encode(text))


def test_every_kind_has_a_writer_and_others_are_refused() -> None:
    assert {*WRITERS} == {*TOKENIZERS, *AROUND_OTHERS}

    class Other(CharTokenizer):
        kind = "other"

    with pytest.raises(DataError, match="a tokenizer of kind 'other' has no "):
        to_tokenizer_json(Other.fit(TEXTS))


def test_the_special_tokens_are_named() -> None:
    told = tokenizer_config(64)
    assert (told["pad_token"], told["eos_token"], told["model_max_length"]) == (
        "<pad>",
        "<eos>",
        64,
    )
    assert "model_max_length" not in tokenizer_config(None)


def test_sentinels_are_read_by_their_names_in_the_file_too() -> None:
    for plain in (CharTokenizer.fit(TEXTS), TOKENIZERS.load("bpe").fit(TEXTS, vocab_size=280)):
        ours = SentinelTokenizer.around(plain, 3)
        theirs = library.Tokenizer.from_str(to_tokenizer_json(ours))
        for text in ("The <extra_id_0>fox<extra_id_2>", "<extra_id_1><extra_id_0>", "<extra_id_3>"):
            assert theirs.encode(text).ids == ours.encode(text), text


def test_texts_are_framed_and_pairs_have_segments() -> None:
    ours = TOKENIZERS.load("wordpiece").fit(TEXTS, vocab_size=120, lower=True)
    theirs = library.Tokenizer.from_str(framing_json(ours, "[MASK]"))
    first, second = ours.encode("the fox"), ours.encode("jumps")
    assert theirs.encode("the fox").ids == [BOS, *first, EOS]
    pair = theirs.encode("the fox", "jumps")
    assert pair.ids == frame_pair(first, second)
    assert pair.type_ids == [0] * (len(first) + 2) + [1] * (len(second) + 1)
    assert theirs.encode("[MASK]").ids == [BOS, ours.size, EOS]
    told = framing_config(64, "[MASK]")
    assert (told["cls_token"], told["sep_token"], told["mask_token"]) == (
        "<bos>",
        "<eos>",
        "[MASK]",
    )
