"""Sentences of your own whose words have tags, as data: CoNLL-U files.

Shapes: N examples, T words of each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from annotated_types import Ge

from netwright.core.config import Config, Doc, Size
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data, Split, check_data
from netwright.data.files.file_content import Allowance
from netwright.data.source import DataConfig, Source
from netwright.data.split import hold_out
from netwright.data.text.conllu import CONLLU, Sentence, read_conllu
from netwright.data.text.encoder import share
from netwright.data.text.pretraining.run_tokenizer import RunVocabulary, read_run_tokenizer
from netwright.data.text.tag_encoder import TagEncoder
from netwright.data.text.text_files import find_files, named_parts
from netwright.data.text.tokenizer import SPECIALS, UNK, Tokenizer
from netwright.data.text.word_tokenizer import WordTokenizer

LONG_SHARE = 95  # per cent of the training sentences that fit into one example


@dataclass(frozen=True, kw_only=True)
class TaggedConfig(Config):
    """How tagged sentences become examples."""

    vocab_size: Annotated[Size | None, Doc("maximum vocabulary size; none: all words")] = None
    min_count: Annotated[
        int,
        Ge(1),
        Doc(
            "minimum count of a word; rarer ones are unknown, and the unknown token is trained too"
        ),
    ] = 2
    lower: Annotated[bool, Doc("convert to lower case")] = False
    max_length: Annotated[
        Size | None,
        Doc("tokens per example, longer sentences continue in the next; none: 95 % of them fit"),
    ] = None
    vocabulary: RunVocabulary = ""


@dataclass(frozen=True, kw_only=True)
class TaggedFilesConfig(TaggedConfig, DataConfig):
    """Tagged sentences of your own."""

    path: Annotated[
        str, Doc("a .conllu file, or a folder with train, dev and test files; .conllu.gz too")
    ] = ""


def load_tagged(config: TaggedFilesConfig) -> Data:
    """Read CoNLL-U files; what cannot be learned from is refused before any training."""
    if not config.path:
        raise ConfigError("path is empty, wanted a .conllu file or a folder of them")
    root = Path(config.path).expanduser()
    files, allowance = find_files(root, CONLLU), Allowance()
    parts = named_parts(files, root) if root.is_dir() else {}
    if parts:
        sentences = {
            part: [one for file in its for one in read_conllu(file, allowance)]
            for part, its in parts.items()
        }
        how = "by file names"
    else:
        sentences = _drawn([one for file in files for one in read_conllu(file, allowance)], config)
        how = "held out at random"
    return tagged_data(root.resolve().name, sentences, config, how, test_is_given="test" in parts)


SOURCE = Source(
    config=TaggedFilesConfig,
    load=load_tagged,
    sentence="your own sentences with tagged words: CoNLL-U files",
    origin="your files",
    licence="yours",
    inputs=("tokens",),
)


def tagged_data(
    name: str,
    sentences: Mapping[str, Sequence[Sentence]],
    config: TaggedConfig,
    how: str,
    *,
    test_is_given: bool,
) -> Data:
    """Tagged sentences as examples.

    Args:
        name: of the data.
        sentences: part -> its sentences.
        config: what words are known, and how long an example is.
        how: what divides the sentences, for the note on it.
        test_is_given: the source itself says which part is the test.
    """
    learned = sentences["train"]
    tokenizer = _tokenizer(learned, config)
    tags = sorted({tag for its in sentences.values() for one in its for tag in one.tags})
    if len(tags) < 2:
        raise DataError(f"{name} has only one tag, {tags[0]!r}")
    encoder = TagEncoder(tokenizer=tokenizer, length=1, tags=tuple(tags))
    sizes = encoder.sizes(list(learned))
    needed = int(np.percentile(sizes, LONG_SHARE, method="higher"))
    encoder = replace(encoder, length=config.max_length or needed)
    splits = {
        part: Split(inputs=encoder.encode(its), targets=encoder.encode_targets(its))
        for part, its in ((part, list(its)) for part, its in sentences.items())
    }
    counted = ", ".join(f"{len(its):,} {part}" for part, its in sentences.items())
    called = "words" if isinstance(tokenizer, WordTokenizer) else f"{tokenizer.kind} tokens"
    data = Data(
        name=name,
        spec=encoder.spec,
        train=splits["train"],
        val=splits.get("val"),
        test=splits.get("test"),
        preprocessor=encoder,
        notes=(
            f"sentences: {counted} ({how})",
            f"{tokenizer.size - len(SPECIALS):,} {called} known, {len(tags)} tags; unknown: "
            + ", ".join(f"{_unknown(split)} of {part}" for part, split in splits.items()),
            f"{encoder.length} {called} per example, longer sentences continue in the next",
        ),
        test_is_given=test_is_given,
    )
    check_data(data)
    return data


def _tokenizer(learned: Sequence[Sentence], config: TaggedConfig) -> Tokenizer:
    if config.vocabulary:
        return read_run_tokenizer(Path(config.vocabulary))
    return WordTokenizer.fit_words(
        [one.words for one in learned],
        vocab_size=config.vocab_size,
        min_count=config.min_count,
        lower=config.lower,
    )


def _drawn(sentences: Sequence[Sentence], config: DataConfig) -> dict[str, list[Sentence]]:
    rows = hold_out(
        len(sentences),
        val_size=config.val_size,
        test_size=config.test_size,
        seed=config.split_seed,
    )
    drawn = zip(("train", "val", "test"), rows, strict=True)
    return {part: [sentences[row] for row in its.tolist()] for part, its in drawn if len(its)}


def _unknown(split: Split) -> str:
    return share(int((split.inputs == UNK).sum()), int(torch.count_nonzero(split.inputs)))
