"""Text of your own as data for a language model: a file, or a folder of files.

The parts are stretches of the text, never shuffled: it is learned from the first, chosen by the
next and reported on the last. The vocabulary is that of the first part alone.

Shapes: N windows, T tokens of each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from annotated_types import Ge

from netwright.core.config import Config, Doc, Fraction, OneOf, Size
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data, check_data
from netwright.data.files.file_content import Allowance
from netwright.data.loading.windows import WindowSplit, scored_once
from netwright.data.source import Source
from netwright.data.tables.dialect import Encoding
from netwright.data.text.catalog import TOKENIZERS, fit_tokenizer
from netwright.data.text.corpus_encoder import CorpusEncoder, stream_of
from netwright.data.text.encoder import share
from netwright.data.text.text_files import PLAIN, find_files, named_parts, read_text
from netwright.data.text.tokenizer import SPECIALS, UNK, Tokenizer

Texts = Mapping[str, Sequence[str]]  # part -> its texts


@dataclass(frozen=True, kw_only=True)
class WindowConfig(Config):
    """How a stream of tokens is cut into examples."""

    window: Annotated[Size, Doc("tokens per example")] = 128
    stride: Annotated[
        Size | None,
        Doc(
            "tokens from the start of one training example to the next; less than window: they "
            "overlap"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class CorpusConfig(WindowConfig):
    """What the tokens of a corpus are."""

    tokenizer: Annotated[str, OneOf(TOKENIZERS), Doc("char, word, bpe or wordpiece")] = "char"
    vocab_size: Annotated[
        Size | None, Doc("maximum vocabulary size; none: all characters or words, 8,000 subwords")
    ] = None
    min_count: Annotated[int, Ge(1), Doc("minimum count of a token; rarer ones are unknown")] = 1
    lower: Annotated[bool, Doc("convert to lower case")] = False


@dataclass(frozen=True, kw_only=True)
class TextFilesConfig(Config):
    """Which files, and which stretches of them are held out."""

    path: Annotated[str, Doc("a .txt file, or a folder of them; .txt.gz too")] = ""
    encoding: Encoding = ""
    val_size: Annotated[
        Fraction, Doc("fraction of the text, before the test part, used for validation")
    ] = 0.1
    test_size: Annotated[Fraction, Doc("fraction of the text, at its end, used for testing")] = 0.0


@dataclass(frozen=True, kw_only=True)
class TextConfig(TextFilesConfig, CorpusConfig):
    """Text of your own."""


def load_text(config: TextConfig) -> Data:
    """Read text files; what cannot be learned from is refused before any training."""
    read = read_text_files(config)
    notes = [read.note]
    if read.files > 1:
        notes.append(f"{read.files} files, each ends in <eos>")
    tokenizer = fit_tokenizer(read.texts["train"], config, read.name)
    data = corpus_data(read.name, read.texts, tokenizer, config, notes, encoding=config.encoding)
    check_data(data)
    return data


SOURCE = Source(
    config=TextConfig,
    load=load_text,
    sentence="your own text, to train a language model on: a .txt file or a folder of them",
    origin="your files",
    licence="yours",
    inputs=("tokens",),
)


class TextsRead(NamedTuple):
    """The texts of each part, and a note on how the parts were found."""

    name: str
    texts: Texts
    files: int
    note: str


def read_text_files(config: TextFilesConfig) -> TextsRead:
    """The texts of all files; parts are told by the names of the files, else cut by position."""
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
        note = "the splits are given by file names"
    else:
        whole = [read_text(file, config.encoding, allowance) for file in files]
        texts = cut_texts(whole, val_size=config.val_size, test_size=config.test_size)
        note = "the splits are cut by position: " + " then ".join(texts)
    return TextsRead(root.resolve().name, texts, len(files), note)


def cut_texts(texts: Sequence[str], *, val_size: float, test_size: float) -> dict[str, list[str]]:
    """Texts, one after the other, cut by position into train, then val, then test."""
    if val_size + test_size >= 1:
        raise ConfigError(f"val_size + test_size must be less than 1, got {val_size} + {test_size}")
    total = sum(map(len, texts))
    ends = {
        "train": int(total * (1 - val_size - test_size)),
        "val": int(total * (1 - test_size)),
        "test": total,
    }
    parts: dict[str, list[str]] = {}
    begin = 0
    for part, end in ends.items():
        parts[part] = _stretch(texts, begin, end)
        begin = end
    if not parts["train"]:
        raise DataError(f"the text has {total} characters, too few to train on; give a longer text")
    return {part: pieces for part, pieces in parts.items() if pieces}


def _stretch(texts: Sequence[str], begin: int, end: int) -> list[str]:
    """What lies between two positions of all texts together, text by text."""
    pieces, place = [], 0
    for text in texts:
        piece = text[max(0, begin - place) : max(0, end - place)]
        pieces += [piece] if piece else []
        place += len(text)
    return pieces


def corpus_data(
    name: str,
    texts: Texts,
    tokenizer: Tokenizer,
    config: WindowConfig,
    notes: Sequence[str] = (),
    *,
    test_is_given: bool = False,
    encoding: str = "",
) -> Data:
    """Texts as windows of tokens.

    Args:
        name: of the data.
        texts: part -> its texts, one after the other.
        tokenizer: fitted on the training part.
        config: how windows are cut.
        notes: what was decided before.
        test_is_given: the source itself says which part is the test.
        encoding: how the bytes of its files are text, for new ones.
    """
    streams = {part: stream_of(its, tokenizer) for part, its in texts.items()}
    part, shortest = min(streams.items(), key=lambda one: len(one[1]))
    if len(shortest) <= config.window:
        shorter = f" or --set data.window={len(shortest) // 2}" if len(shortest) > 1 else ""
        raise DataError(
            f"the {part} part of {name} has {len(shortest)} tokens, wanted more than "
            f"window={config.window}; give a longer text{shorter}"
        )
    held_out = {
        part: scored_once(stream, config.window)
        for part, stream in streams.items()
        if part != "train"
    }
    encoder = CorpusEncoder(tokenizer=tokenizer, length=config.window, encoding=encoding)
    counted = ", ".join(f"{len(stream):,} {part}" for part, stream in streams.items())
    vocabulary = f"{tokenizer.size - len(SPECIALS):,} and {len(SPECIALS)} special ones"
    unknown = ", ".join(
        f"{share(int((stream == UNK).sum()), len(stream))} of {part}"
        for part, stream in streams.items()
    )
    return Data(
        name=name,
        spec=encoder.spec,
        train=WindowSplit(
            stream=streams["train"], window=config.window, stride=config.stride or config.window
        ),
        val=held_out.get("val"),
        test=held_out.get("test"),
        preprocessor=encoder,
        notes=(
            *notes,
            f"tokens ({tokenizer.kind}): {counted}",
            f"vocabulary of the training part: {vocabulary}; unknown: {unknown}",
        ),
        test_is_given=test_is_given,
    )
