"""How text becomes tokens of one length, and all that is needed to encode the next text so.

There are several forms: one long text in windows, the same with masked tokens, rows with a text
each, questions with their contexts, and sentences of words that each have a tag. All hold a
tokenizer, which travels with the model.

Shapes: N examples, T tokens of each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from netwright.core.catalog import Catalog
from netwright.core.errors import ConfigError
from netwright.core.flat_record import from_plain, to_plain
from netwright.data.encoder_checks import check_sizes
from netwright.data.preprocessing import Preprocessor
from netwright.data.text.catalog import load_tokenizer
from netwright.data.text.tokenizer import PAD, UNK, Tokenizer

FORMS: "Catalog[type[TextEncoder]]" = Catalog(
    "form of text",
    {
        "corpus": "netwright.data.text.corpus_encoder:CorpusEncoder",
        "masked": "netwright.data.text.pretraining.masked_encoder:MaskedEncoder",
        "rows": "netwright.data.text.row_encoder:RowEncoder",
        "words": "netwright.data.words.word_encoder:WordEncoder",
        "spans": "netwright.data.text.spans.span_encoder:SpanEncoder",
        "tagged": "netwright.data.text.tag_encoder:TagEncoder",
    },
)


@dataclass(frozen=True, kw_only=True)
class TextEncoder(Preprocessor):
    """What the forms share; `TextEncoder.from_json` gives the right one.

    Args:
        tokenizer: text <-> tokens.
        length: tokens of one example, T.
        encoding: how the bytes of new files are text; empty: UTF-8.
    """

    kind: ClassVar[str] = "text"
    form: ClassVar[str]

    tokenizer: Tokenizer
    length: int
    encoding: str = ""

    def reading(self, **settings: str) -> "TextEncoder":
        """The same for files in another encoding."""
        return replace(self, encoding=given_encoding(settings))

    def units(self) -> tuple[Tensor, Tensor]:
        """Offset 0 and scale 1 for each token (T,): they are numbers of words, not amounts."""
        return torch.zeros(self.length).double(), torch.ones(self.length).double()

    def decode(self, inputs: Tensor) -> list[dict[str, str]]:
        """Tokens (N, T) as text."""
        return [{"text": self.tokenizer.decode(row)} for row in inputs.tolist()]

    def check_numbers(self) -> None:
        """Refuse a length that no text has."""
        check_sizes("length", self.length)

    def to_json(self) -> dict[str, Any]:
        """Plain lists, numbers and text, with the tokenizer."""
        return {**to_plain(self), "form": self.form, "tokenizer": self.tokenizer.to_json()}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "TextEncoder":
        """The encoder that `to_json` gave, of whichever form."""
        given = dict(values)
        form = FORMS.load(given.pop("form"))
        return from_plain(form, {**given, "tokenizer": load_tokenizer(given["tokenizer"])})


def given_encoding(settings: Mapping[str, str]) -> str:
    """The encoding among settings of reading; a text has no others."""
    for name in settings:
        if name != "encoding":
            raise ConfigError(f"{name} is for tables of numbers, this run reads texts")
    return settings["encoding"]


def padded(texts: Sequence[Sequence[int]], length: int) -> Tensor:
    """Tokens of texts -> (N, T): the head of long ones, and padding after short ones.

    A text without any token is one unknown token: no example is nothing but padding.
    """
    return filled([text or [UNK] for text in texts], length, PAD)


def filled(rows: Sequence[Sequence[int]], length: int, value: int) -> Tensor:
    """Whole numbers -> (N, T) int64: the head of long rows, and the value after short ones."""
    whole = np.full((len(rows), length), value, dtype=np.int64)
    for place, row in zip(whole, rows, strict=True):
        kept = row[:length]
        place[: len(kept)] = kept
    return torch.from_numpy(whole)


def share(count: int, total: int) -> str:
    """A part of a whole in per cent, as a person says it."""
    return f"{100 * count / max(1, total):.3g} %"
