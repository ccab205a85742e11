"""Your own pairs of texts as data: sentences and their translations, questions and answers.

    a table with two columns of text        path=pairs.tsv, source=de, target=en
    several tasks, named in a column        path=pairs.tsv, prefix=task: "task: source" is read
    two files, one text a line in each      path=train.de, target_path=train.en

Shapes: N pairs, S source tokens, T target tokens with the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from annotated_types import Ge

from netwright.core.config import Config, Doc, OneOf, Size
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data, check_data
from netwright.data.source import DataConfig, Source
from netwright.data.tables.dialect import Encoding
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.splitting import SplitColumn, divide_by_settings
from netwright.data.tables.targets import check_present
from netwright.data.text.catalog import TOKENIZERS, fit_tokenizer
from netwright.data.text.encoder import share
from netwright.data.text.pair_encoder import PairEncoder, prefixed
from netwright.data.text.pretraining.run_tokenizer import RunVocabulary, read_run_tokenizer
from netwright.data.text.text_files import read_text
from netwright.data.text.text_rows import read_text_rows
from netwright.data.text.tokenizer import SPECIALS, UNK, Tokenizer

LONGEST = 128  # tokens, where nothing else is said


@dataclass(frozen=True, kw_only=True)
class PairsConfig(Config):
    """How the two texts of a pair become tokens."""

    tokenizer: Annotated[str, OneOf(TOKENIZERS), Doc("char, word, bpe or wordpiece")] = "word"
    vocab_size: Annotated[
        Size, Doc("maximum size of each of the two vocabularies, including special tokens")
    ] = 20_000
    min_count: Annotated[
        int,
        Ge(1),
        Doc(
            "minimum count of a token; rarer ones are unknown, and from 2 on the "
            "unknown token is trained too"
        ),
    ] = 2
    lower: Annotated[bool, Doc("convert to lower case")] = False
    shared_vocabulary: Annotated[
        bool,
        Doc("one vocabulary for sources and targets, so that a transformer ties their embeddings"),
    ] = False
    vocabulary: RunVocabulary = ""
    max_length: Annotated[
        Size | None,
        Doc(
            "maximum tokens per text, longer ones are truncated; none: the length of the longest, "
            "up to 128"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class TextPairsConfig(PairsConfig, DataConfig):
    """Pairs of texts of your own."""

    path: Annotated[
        str,
        Doc("a table (.csv, .tsv, either with .gz, .parquet), or a file with one source per line"),
    ] = ""
    target_path: Annotated[
        str, Doc("the file with one target per line, where path has one source per line")
    ] = ""
    encoding: Encoding = ""
    source: Annotated[str, Doc("the column of sources")] = "source"
    target: Annotated[str, Doc("the column of targets")] = "target"
    prefix: Annotated[
        str, Doc("the column of tasks, each written before its source (task: source); empty: none")
    ] = ""
    split_column: SplitColumn = None


def load_pairs(config: TextPairsConfig) -> Data:
    """Read pairs; both vocabularies are those of the training rows."""
    return pairs_data(_read(config), config)


def pairs_data(table: RawTable, config: TextPairsConfig) -> Data:
    """The pairs of a table as data."""
    columns = (config.source, config.target)
    named = [config.prefix] if config.prefix else []
    check_present(table, [*columns, *named], "; remove such rows from the file")
    division, divided, test_is_given = divide_by_settings(table, config, config.split_column)
    learned = table.take(division["train"].tolist())
    encoder, notes = _fitted(learned, config)
    whole = encoder.split(table)
    splits = {part: whole.take(rows) for part, rows in division.items() if len(rows)}
    data = Data(
        name=table.name,
        spec=encoder.spec,
        train=splits["train"],
        val=splits.get("val"),
        test=splits.get("test"),
        preprocessor=encoder,
        notes=(*table.notes, divided, *notes),
        test_is_given=test_is_given,
    )
    check_data(data)
    return data


SOURCE = Source(
    config=TextPairsConfig,
    load=load_pairs,
    sentence="your own pairs of texts: a table with two columns, or two files line by line",
    origin="your files",
    licence="yours",
    inputs=("pairs",),
)


def _read(config: TextPairsConfig) -> RawTable:
    """The rows of a table with both columns, or of two files."""
    if not config.path:
        raise ConfigError("path is empty, wanted a table with two columns of text, or a text file")
    if config.source == config.target:
        raise ConfigError(f"column {config.source!r} is used both as source and as target")
    if not config.target_path:
        return read_text_rows(config.path, config.encoding)
    paths = [Path(path).expanduser() for path in (config.path, config.target_path)]
    sources, targets = (
        read_text(path, config.encoding).removesuffix("\n").split("\n") for path in paths
    )
    if len(sources) != len(targets):
        raise DataError(
            f"{paths[0].name} has {len(sources)} lines, {paths[1].name} has {len(targets)}: "
            f"wanted the same number, line by line"
        )
    return RawTable(
        name=paths[0].name,
        columns={
            config.source: [text.strip() for text in sources],
            config.target: [text.strip() for text in targets],
        },
        positions=range(len(sources)),
        lines=range(1, len(sources) + 1),
    )


def _fitted(learned: RawTable, config: TextPairsConfig) -> tuple[PairEncoder, list[str]]:
    """The encoder of the training rows, and a note on each of its two sides."""
    columns = {config.source: 0, config.target: 1}  # and how many tokens end a text
    texts = {
        config.source: prefixed(learned, config.source, config.prefix),
        config.target: learned.column(config.target),
    }
    every = [*texts[config.source], *texts[config.target]]
    both = (
        _tokenizer(every, config, f"columns {config.source!r} and {config.target!r}")
        if config.shared_vocabulary or config.vocabulary
        else None
    )
    readers, lengths, notes = [], [], []
    for column, ends in columns.items():
        reader = both or _tokenizer(texts[column], config, f"column {column!r}")
        tokens = reader.encode_all(texts[column])
        length = config.max_length or min(max(map(len, tokens)), LONGEST)
        readers.append(reader)
        lengths.append(length + ends)
        notes.append(_note(column, reader, tokens, length))
    source, target = readers
    encoder = PairEncoder(
        source=source,
        target=target,
        source_length=lengths[0],
        target_length=lengths[1],
        columns=(config.source, config.target),
        encoding=config.encoding,
        prefix=config.prefix,
    )
    return encoder, notes


def _tokenizer(texts: Sequence[str], config: TextPairsConfig, where: str) -> Tokenizer:
    """The vocabulary of these texts, or of a run; one without any token is refused."""
    if config.vocabulary:
        return read_run_tokenizer(Path(config.vocabulary))
    return fit_tokenizer(texts, config, where)


def _note(column: str, reader: Tokenizer, tokens: Sequence[list[int]], length: int) -> str:
    total, unknown = sum(map(len, tokens)), sum(text.count(UNK) for text in tokens)
    cut = sum(len(text) > length for text in tokens)
    return (
        f"{column}: text, {reader.size - len(SPECIALS):,} {reader.kind} tokens known, "
        f"{share(unknown, total)} of the training text unknown; {length} tokens per text, "
        f"{share(cut, len(tokens))} of the training texts are truncated"
    )
