"""The tokenizer contract: ours pass, and each check catches one that breaks it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from netwright.data.text.tokenizer import EOS, SPECIALS, Tokenizer
from netwright.testing import tokenizer_contract as contract
from netwright.testing.tokenizer_contract import TOKENIZER_CHECKS, Fit
from tests.repetition import for_each

Check = Callable[[Fit], None]
FITS = iter(range(10**6))


@dataclass(frozen=True, kw_only=True)
class Sound(Tokenizer):
    """Characters, in the order of their first occurrence."""

    kind: ClassVar[str] = "sound"

    @property
    def is_lossless(self) -> bool:
        return True

    @classmethod
    def fit(cls, texts: Sequence[str], **_: Any) -> "Sound":
        return cls(tokens=(*SPECIALS, *dict.fromkeys("".join(texts))))

    def encode(self, text: str) -> list[int]:
        return [self.places.get(character, 1) for character in text]

    def decode(self, tokens: Iterable[int]) -> str:
        return "".join(self.tokens[token] for token in tokens if token not in {0, 2, 3})


class Shuffled(Sound):
    @classmethod
    def fit(cls, texts: Sequence[str], **_: Any) -> "Sound":
        return cls(tokens=(*SPECIALS, *dict.fromkeys("".join(texts)), f"fit {next(FITS)}"))


class Forgetful(Sound):
    @classmethod
    def fit(cls, texts: Sequence[str], **_: Any) -> "Sound":
        return cls(tokens=(*SPECIALS, *dict.fromkeys(texts[0])))


class Loud(Sound):
    def decode(self, tokens: Iterable[int]) -> str:
        return "".join(self.tokens[token] for token in tokens)


class Lossy(Sound):
    def decode(self, tokens: Iterable[int]) -> str:
        return super().decode(tokens).lower()


class Skipping(Sound):
    def encode(self, text: str) -> list[int]:
        return [token for token in super().encode(text) if token != 1]


class Injected(Sound):
    def encode(self, text: str) -> list[int]:
        return [EOS] if "<eos>" in text else super().encode(text)


class Ended(Sound):
    def encode(self, text: str) -> list[int]:
        return super().encode(text) or [1]


class Apart(Sound):
    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.encode(text.strip("T")) for text in texts]


class Changed(Sound):
    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Tokenizer:
        return Sound(tokens=tuple(values["tokens"][:-1]))


class Empty(Sound):
    @classmethod
    def fit(cls, texts: Sequence[str], **_: Any) -> "Sound":
        return cls(tokens=SPECIALS)


@for_each("check", TOKENIZER_CHECKS, ids=lambda check: check.__name__)
def test_a_sound_tokenizer_passes(check: Check) -> None:
    check(Sound.fit)


@for_each(
    ("check", "broken"),
    [
        (contract.check_special_tokens_come_first, Empty),
        (contract.check_fitting_repeats_exactly, Shuffled),
        (contract.check_tokens_are_of_the_vocabulary, Forgetful),
        (contract.check_decoding_gives_the_text_back, Lossy),
        (contract.check_what_is_new_is_unknown, Skipping),
        (contract.check_names_of_special_tokens_are_text, Injected),
        (contract.check_special_tokens_leave_no_text, Loud),
        (contract.check_a_text_of_nothing_has_no_tokens, Ended),
        (contract.check_several_texts_are_encoded_as_each, Apart),
        (contract.check_survives_json, Changed),
    ],
    ids=lambda one: one.__name__,
)
def test_every_check_catches_one_that_breaks_it(check: Check, broken: type[Sound]) -> None:
    with pytest.raises(AssertionError):
        check(broken.fit)
    assert check in TOKENIZER_CHECKS
