"""Plain text for pre-training: spans are left out of a text, and are to be said.

    source    Thank you <0> me to your party <1> week
    target    <0> for inviting <1> last <2> <eos>

A text is cut into examples of equally many tokens, one behind the other. Spans of the training part
are drawn anew in every epoch (`train/callbacks/batches/mask_batches.py`), those of the others stay.

Shapes: N examples, L tokens of each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated

import torch
from annotated_types import Ge, Interval

from netwright.core.config import Config, Count, Doc, OneOf, Size
from netwright.core.errors import DataError
from netwright.core.seeding import generator
from netwright.data.dataset import Data, Split, check_data
from netwright.data.source import Source
from netwright.data.text.catalog import TOKENIZERS, fit_tokenizer
from netwright.data.text.corpus import TextFilesConfig, Texts, read_text_files
from netwright.data.text.pretraining.corrupted_encoder import CorruptedEncoder
from netwright.data.text.pretraining.sentinel_tokenizer import SentinelTokenizer
from netwright.data.text.pretraining.span_corruption import draw_spans, leave_out, spans_of
from netwright.data.text.tokenizer import Tokenizer


@dataclass(frozen=True, kw_only=True)
class CorruptedConfig(Config):
    """How text becomes examples with spans left out."""

    window: Annotated[
        int, Interval(ge=8, le=4096), Doc("tokens per example, 15 % of which are left out in spans")
    ] = 128
    tokenizer: Annotated[str, OneOf(TOKENIZERS), Doc("char, word, bpe or wordpiece")] = "bpe"
    vocab_size: Annotated[
        Size, Doc("maximum vocabulary size, including special tokens, without sentinels")
    ] = 8_000
    min_count: Annotated[int, Ge(1), Doc("minimum count of a token; rarer ones are unknown")] = 2
    lower: Annotated[bool, Doc("convert to lower case")] = False
    span_seed: Annotated[Count, Doc("random seed of the spans of val and test")] = 0


@dataclass(frozen=True, kw_only=True)
class CorruptedTextConfig(TextFilesConfig, CorruptedConfig):
    """Text of your own with spans left out."""


def load_corrupted_text(config: CorruptedTextConfig) -> Data:
    """Read text files; what cannot be learned from is refused before any training."""
    read = read_text_files(config)
    return corrupted_data(read.name, read.texts, config, [read.note], encoding=config.encoding)


def corrupted_data(
    name: str,
    texts: Texts,
    config: CorruptedConfig,
    notes: Sequence[str] = (),
    *,
    test_is_given: bool = False,
    encoding: str = "",
) -> Data:
    """Texts with spans left out; the vocabulary is that of the training part.

    Args:
        name: of the data.
        texts: part -> its texts, one after the other.
        config: the tokens, and how many an example has.
        notes: what was decided before.
        test_is_given: the source itself says which part is the test.
        encoding: how the bytes of its files are text, for new ones.
    """
    plain = fit_tokenizer(texts["train"], config, name)
    spans = spans_of(config.window)
    tokenizer = SentinelTokenizer.around(plain, spans.sentinels)
    encoder = CorruptedEncoder(
        source=tokenizer,
        target=tokenizer,
        source_length=spans.source_length,
        target_length=spans.target_length,
        encoding=encoding,
    )
    splits = {part: _examples(part, its, plain, config) for part, its in texts.items()}
    counted = ", ".join(f"{len(split):,} {part}" for part, split in splits.items())
    data = Data(
        name=name,
        spec=encoder.spec,
        train=splits["train"],
        val=splits.get("val"),
        test=splits.get("test"),
        preprocessor=encoder,
        notes=(
            *notes,
            f"vocabulary of the training part: {plain.size:,} tokens, and {spans.sentinels} "
            "sentinels",
            f"examples of {config.window} tokens: {counted}; {spans.left_out} tokens of each are "
            f"left out, in {spans.number} spans",
        ),
        test_is_given=test_is_given,
    )
    check_data(data)
    return data


def _examples(part: str, texts: Sequence[str], plain: Tokenizer, config: CorruptedConfig) -> Split:
    """The examples of one part; what fills none at its end is left out."""
    tokens = torch.tensor(list(chain.from_iterable(plain.encode_all(texts))))
    count = len(tokens) // config.window
    if not count:
        raise DataError(
            f"the {part} part has {len(tokens)} tokens, wanted at least window={config.window}; "
            "give a longer text or a smaller window"
        )
    rows, spans = tokens[: count * config.window].view(count, -1), spans_of(config.window)
    is_out = draw_spans(count, spans, generator(config.span_seed, "spans", part))
    inputs, targets = leave_out(rows, is_out, spans, plain.size)
    return Split(inputs=inputs, targets=targets)


SOURCE = Source(
    config=CorruptedTextConfig,
    load=load_corrupted_text,
    sentence="your own text, to pre-train t5 on: a .txt file or a folder of them",
    origin="your files",
    licence="yours",
    inputs=("pairs",),
)
