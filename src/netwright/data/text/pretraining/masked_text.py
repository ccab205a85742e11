"""Plain text for pre-training: masked tokens to be found, and whether a second text follows.

    [CLS] first segment [SEP] second segment [SEP]       15 % of the tokens chosen and covered

A document is a file, or what stands between empty lines of it. Masks of the training part are drawn
anew in every epoch (`train/callbacks/batches/mask_batches.py`), those of the others stay.

Shapes: N examples, F tokens of each.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Ge, Interval

from netwright.core.config import Config, Count, Doc, OneOf, Size
from netwright.core.errors import ConfigError, DataError
from netwright.core.seeding import generator
from netwright.data.dataset import Data, Split, check_data
from netwright.data.source import Source
from netwright.data.text.catalog import TOKENIZERS, fit_tokenizer
from netwright.data.text.corpus import TextFilesConfig, Texts, read_text_files
from netwright.data.text.encoder import share
from netwright.data.text.pretraining.masked_encoder import MaskedEncoder
from netwright.data.text.pretraining.masking import mask_tokens
from netwright.data.text.pretraining.sentence_pairs import pair_sentences
from netwright.data.text.tokenizer import BOS, EOS, Tokenizer

EMPTY_LINES = re.compile(r"\n\s*\n")
FRAME = 3  # [CLS] and twice [SEP]


@dataclass(frozen=True, kw_only=True)
class MaskedConfig(Config):
    """How text becomes examples of pre-training."""

    window: Annotated[
        int, Interval(ge=7, le=4096), Doc("tokens per example, [CLS] and two [SEP] included, odd")
    ] = 127
    tokenizer: Annotated[str, OneOf(TOKENIZERS), Doc("char, word, bpe or wordpiece")] = "wordpiece"
    vocab_size: Annotated[Size, Doc("maximum vocabulary size, including special tokens")] = 8_000
    min_count: Annotated[int, Ge(1), Doc("minimum count of a token; rarer ones are unknown")] = 2
    lower: Annotated[bool, Doc("convert to lower case")] = True
    mask_seed: Annotated[
        Count, Doc("random seed of the pairs, and of the masks of val and test")
    ] = 0

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        if self.window % 2 == 0:
            raise ConfigError(
                f"window must be odd, two equal segments and 3 special tokens, got {self.window}"
            )


@dataclass(frozen=True, kw_only=True)
class MaskedTextConfig(TextFilesConfig, MaskedConfig):
    """Text of your own for pre-training."""


def load_masked_text(config: MaskedTextConfig) -> Data:
    """Read text files; what cannot be learned from is refused before any training."""
    read = read_text_files(config)
    return masked_data(read.name, read.texts, config, [read.note], encoding=config.encoding)


def masked_data(
    name: str,
    texts: Texts,
    config: MaskedConfig,
    notes: Sequence[str] = (),
    *,
    test_is_given: bool = False,
    encoding: str = "",
) -> Data:
    """Texts as pairs of segments with masks; the vocabulary is that of the training part.

    Args:
        name: of the data.
        texts: part -> its texts, one after the other.
        config: the tokens, and how they are masked.
        notes: what was decided before.
        test_is_given: the source itself says which part is the test.
        encoding: how the bytes of its files are text, for new ones.
    """
    documents = {part: _documents(its) for part, its in texts.items()}
    tokenizer = fit_tokenizer(documents["train"], config, name)
    encoder = MaskedEncoder(tokenizer=tokenizer, length=config.window, encoding=encoding)
    splits, told = {}, [*notes, f"vocabulary of the training part: {tokenizer.size:,} tokens"]
    for part, its in documents.items():
        splits[part], said = _examples(part, its, tokenizer, config)
        told.append(said)
    data = Data(
        name=name,
        spec=encoder.spec,
        train=splits["train"],
        val=splits.get("val"),
        test=splits.get("test"),
        preprocessor=encoder,
        notes=tuple(told),
        test_is_given=test_is_given,
    )
    check_data(data)
    return data


def _documents(texts: Sequence[str]) -> list[str]:
    """What stands between empty lines of each text."""
    return [one for text in texts for one in EMPTY_LINES.split(text) if one.strip()]


def _examples(
    part: str, documents: Sequence[str], tokenizer: Tokenizer, config: MaskedConfig
) -> tuple[Split, str]:
    """The examples of one part, and a note on them."""
    length = (config.window - FRAME) // 2
    tokens = tokenizer.encode_all(documents)
    try:
        pairs = pair_sentences(tokens, length, generator(config.mask_seed, "pairs", part))
    except DataError as error:
        raise DataError(f"{part}: {error}") from None
    count = len(pairs.labels)
    begin, end = torch.full((count, 1), BOS), torch.full((count, 1), EOS)
    rows = torch.cat((begin, pairs.first, end, pairs.second, end), dim=1)
    inputs, targets = mask_tokens(rows, tokenizer.size, generator(config.mask_seed, "masks", part))
    targets[:, 0] = pairs.labels
    total = sum(map(len, tokens))
    note = (
        f"{part}: {count:,} pairs of segments of {length} tokens, half of which follow each other; "
        f"{pairs.joined:,} of {len(documents):,} documents are shorter than a pair and joined to "
        f"the next; {share(pairs.left_out, total)} of the tokens fill no pair and are left out"
    )
    return Split(inputs=inputs, targets=targets), note


SOURCE = Source(
    config=MaskedTextConfig,
    load=load_masked_text,
    sentence="your own text, to pre-train bert on: a .txt file or a folder of them",
    origin="your files",
    licence="yours",
    inputs=("masked",),
)
