"""What every tokenizer promises, as checks that anyone may run on a tokenizer of their own.

    @pytest.mark.parametrize("check", TOKENIZER_CHECKS, ids=lambda check: check.__name__)
    def test_keeps_the_tokenizer_contract(check):
        check(MyTokenizer.fit)

`fit` takes texts and gives a tokenizer; it is fitted on TEXTS.
"""

import json
from collections.abc import Callable, Sequence

from netwright.data.text.tokenizer import BOS, EOS, PAD, SPECIALS, UNK, Tokenizer

Fit = Callable[[Sequence[str]], Tokenizer]
TEXTS = (
    "The cat sat on the mat, and the dog sat on the cat.",
    "A cat isn't a dog; the dog isn't a cat!",
    "café naïve 猫 😀 the café",
)
STRANGE = "zebra Ω 犬 \u0301 😺"  # no token of these is in TEXTS, unless it is a byte


def check_special_tokens_come_first(fit: Fit) -> None:
    """The first four names are the special ones, all names differ, and `size` counts them."""
    tokenizer = fit(TEXTS)
    assert tokenizer.tokens[:4] == SPECIALS, f"the first tokens are {tokenizer.tokens[:4]}"
    assert tokenizer.size == len(tokenizer.tokens) == len(set(tokenizer.tokens)) > 4


def check_fitting_repeats_exactly(fit: Fit) -> None:
    """The same texts give the same tokenizer."""
    assert fit(TEXTS) == fit(TEXTS), "two fits on the same texts differ"


def check_tokens_are_of_the_vocabulary(fit: Fit) -> None:
    """What was fitted on is encoded without padding, beginning or end, and nothing is unknown."""
    tokenizer = fit(TEXTS)
    for text in TEXTS:
        tokens = tokenizer.encode(text)
        assert tokens, f"{text!r} has no token"
        assert all(len(SPECIALS) <= token < tokenizer.size for token in tokens), tokens


def check_decoding_gives_the_text_back(fit: Fit) -> None:
    """The very text where the tokenizer is lossless; else one that has the same tokens."""
    tokenizer = fit(TEXTS)
    for text in TEXTS:
        tokens = tokenizer.encode(text)
        decoded = tokenizer.decode(tokens)
        assert tokenizer.encode(decoded) == tokens, f"{text!r} came back as {decoded!r}"
        if tokenizer.is_lossless:
            assert decoded == text, f"{text!r} came back as {decoded!r}"


def check_what_is_new_is_unknown(fit: Fit) -> None:
    """Text that was never seen is unknown, or is written with what is known: nothing is lost."""
    tokenizer = fit(TEXTS)
    tokens = tokenizer.encode(STRANGE)
    assert not {PAD, BOS, EOS} & set(tokens), f"padding, a beginning or an end: {tokens}"
    assert UNK in tokens or tokenizer.decode(tokens) == STRANGE, "what is unknown is left out"
    if UNK in tokens:
        assert SPECIALS[UNK] in tokenizer.decode(tokens), "UNK leaves nothing in the text"


def check_names_of_special_tokens_are_text(fit: Fit) -> None:
    """Nobody ends a sequence by writing <eos> into it, also where it was written while fitting."""
    text = " ".join(SPECIALS)
    for tokenizer in (fit(TEXTS), fit((*TEXTS, text, text))):
        tokens = tokenizer.encode(text)
        assert tokens and not {PAD, BOS, EOS} & set(tokens), f"{text!r} became {tokens}"


def check_special_tokens_leave_no_text(fit: Fit) -> None:
    """Padding, beginning and end around a text leave nothing but the text."""
    tokenizer = fit(TEXTS)
    tokens = tokenizer.encode(TEXTS[0])
    decoded = tokenizer.decode([BOS, *tokens, PAD, PAD])
    assert decoded == tokenizer.decode(tokens), f"got {decoded!r}"
    assert not tokenizer.decode([]), "no tokens have a text"


def check_a_text_of_nothing_has_no_tokens(fit: Fit) -> None:
    """The empty text is the empty list."""
    assert fit(TEXTS).encode("") == [], "the empty text has tokens"


def check_several_texts_are_encoded_as_each(fit: Fit) -> None:
    """`encode_all` is `encode` of each text."""
    tokenizer = fit(TEXTS)
    texts = [*TEXTS, "", STRANGE]
    assert tokenizer.encode_all(texts) == [tokenizer.encode(text) for text in texts]


def check_survives_json(fit: Fit) -> None:
    """It is plain text and lists, and comes back as it was."""
    tokenizer = fit(TEXTS)
    values = json.loads(json.dumps(tokenizer.to_json()))
    again = type(tokenizer).from_json(values)
    assert again == tokenizer, "it came back from JSON as another one"
    for text in (*TEXTS, STRANGE):
        assert again.encode(text) == tokenizer.encode(text), f"{text!r} is encoded otherwise"


TOKENIZER_CHECKS = (
    check_special_tokens_come_first,
    check_fitting_repeats_exactly,
    check_tokens_are_of_the_vocabulary,
    check_decoding_gives_the_text_back,
    check_what_is_new_is_unknown,
    check_names_of_special_tokens_are_text,
    check_special_tokens_leave_no_text,
    check_a_text_of_nothing_has_no_tokens,
    check_several_texts_are_encoded_as_each,
    check_survives_json,
)
