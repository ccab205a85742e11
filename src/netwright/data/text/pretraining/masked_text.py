"""Plain text for pre-training: masked tokens to be found, and whether a second text follows.

    [CLS] first segment [SEP] second segment [SEP]       15 % of the tokens chosen and covered

A document is a file, or what stands between empty lines of it. Masks of the training part are drawn
anew in every epoch (`train/callbacks/batches/mask_batches.py`), those of the others stay.

Shapes: N examples, F tokens of each.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import torch
from annotated_types import Ge, Interval

from netwright.core.config import Config, Count, Doc, Fraction, OneOf, Size
from netwright.core.errors import ConfigError, DataError
from netwright.core.seeding import generator
from netwright.data.dataset import Data, Split, check_data
from netwright.data.files.file_content import Allowance
from netwright.data.source import Source
from netwright.data.tables.dialect import Encoding
from netwright.data.text.catalog import TOKENIZERS
from netwright.data.text.corpus import cut_texts
from netwright.data.text.encoder import share
from netwright.data.text.pretraining.masked_encoder import MaskedEncoder
from netwright.data.text.pretraining.masking import mask_tokens
from netwright.data.text.pretraining.sentence_pairs import pair_sentences
from netwright.data.text.text_files import PLAIN, find_files, named_parts, read_text
from netwright.data.text.tokenizer import BOS, EOS, SPECIALS, Tokenizer

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
class MaskedTextConfig(MaskedConfig):
    """Text of your own for pre-training."""

    path: Annotated[str, Doc("a .txt file, or a folder of them; .txt.gz too")] = ""
    encoding: Encoding = ""
    val_size: Annotated[
        Fraction, Doc("fraction of the text, before the test part, used for validation")
    ] = 0.1
    test_size: Annotated[Fraction, Doc("fraction of the text, at its end, used for testing")] = 0.0


def load_masked_text(config: MaskedTextConfig) -> Data:
    """Read text files; what cannot be learned from is refused before any training."""
    if not config.path:
        raise ConfigError("path is empty, wanted a .txt file or a folder of them")
    root = Path(config.path).expanduser()
    files = find_files(root, PLAIN)
    parts, allowance = named_parts(files, root), Allowance()
    if parts:
        texts = {
            part: [read_text(file, config.encoding, allowance) for file in its]
            for part, its in parts.items()
        }
    else:
        whole = [read_text(file, config.encoding, allowance) for file in files]
        texts = cut_texts(whole, val_size=config.val_size, test_size=config.test_size)
    data = masked_data(root.resolve().name, texts, config)
    encoder = replace(_encoder(data), encoding=config.encoding)
    return replace(data, preprocessor=encoder)


def masked_data(
    name: str,
    texts: Mapping[str, Sequence[str]],
    config: MaskedConfig,
    *,
    test_is_given: bool = False,
) -> Data:
    """Texts as pairs of segments with masks; the vocabulary is that of the training part."""
    documents = {part: _documents(its) for part, its in texts.items()}
    tokenizer = TOKENIZERS.load(config.tokenizer).fit(
        documents["train"],
        vocab_size=config.vocab_size,
        min_count=config.min_count,
        lower=config.lower,
    )
    if tokenizer.size == len(SPECIALS):
        raise DataError(f"no token of {name} occurs min_count={config.min_count} times")
    encoder = MaskedEncoder(tokenizer=tokenizer, length=config.window)
    splits, notes = {}, [f"vocabulary of the training part: {tokenizer.size:,} tokens"]
    for part, its in documents.items():
        splits[part], said = _examples(part, its, tokenizer, config)
        notes.append(said)
    data = Data(
        name=name,
        spec=encoder.spec,
        train=splits["train"],
        val=splits.get("val"),
        test=splits.get("test"),
        preprocessor=encoder,
        notes=tuple(notes),
        test_is_given=test_is_given,
    )
    check_data(data)
    return data


def _encoder(data: Data) -> MaskedEncoder:
    encoder = data.preprocessor
    if not isinstance(encoder, MaskedEncoder):
        raise TypeError("masked data has another encoder")
    return encoder


def _documents(texts: Sequence[str]) -> list[str]:
    """What stands between empty lines of each text."""
    return [one for text in texts for one in EMPTY_LINES.split(text) if one.strip()]


def _examples(
    part: str, documents: Sequence[str], tokenizer: Tokenizer, config: MaskedConfig
) -> tuple[Split, str]:
    """The examples of one part, and a note on them."""
    length = (config.window - FRAME) // 2
    tokens = tokenizer.encode_all(documents)
    pairs = pair_sentences(tokens, length, generator(config.mask_seed, "pairs", part))
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
