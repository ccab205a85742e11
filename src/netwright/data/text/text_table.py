"""Your own table with a text in each row, as data: it is read, and a column beside it predicted.

Shapes: N rows, T tokens of each.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge
from torch import Tensor

from netwright.core.config import Config, Doc, OneOf, Size
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data, Split, check_data
from netwright.data.source import DataConfig, Source
from netwright.data.tables.dialect import Encoding
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.splitting import (
    SplitColumn,
    check_groups_apart,
    divide_by_settings,
    find_split_column,
)
from netwright.data.tables.targets import TargetEncoder, check_present
from netwright.data.text.catalog import TOKENIZERS
from netwright.data.text.encoder import share
from netwright.data.text.pretraining.run_tokenizer import RunVocabulary, read_run_tokenizer
from netwright.data.text.row_encoder import RowEncoder, TextInputs, word_weights
from netwright.data.text.text_rows import read_text_rows
from netwright.data.text.tokenizer import SPECIALS, UNK, Tokenizer

MIN_ROWS = 5
USUAL_SIZE, BAG_SIZE = 20_000, 5_000  # tokens of a vocabulary, words of a bag
LONGEST = 512  # tokens, where nothing else is said
LONG_SHARE = 95  # per cent of the training texts that are not cut, up to LONGEST


@dataclass(frozen=True, kw_only=True)
class RowsConfig(Config):
    """How the text of a row becomes an input."""

    inputs: Annotated[
        TextInputs,
        Doc("tokens: the sequence of tokens; bag: word counts; tf-idf: weighted word counts"),
    ] = "tokens"
    tokenizer: Annotated[str, OneOf(TOKENIZERS), Doc("char, word, bpe or wordpiece")] = "word"
    vocab_size: Annotated[
        Size | None,
        Doc("maximum vocabulary size, including special tokens; none: 20,000, for a bag 5,000"),
    ] = None
    min_count: Annotated[
        int,
        Ge(1),
        Doc(
            "minimum count of a token; rarer ones are unknown, and from 2 on the "
            "unknown token is trained too"
        ),
    ] = 2
    lower: Annotated[bool, Doc("convert to lower case")] = True
    vocabulary: RunVocabulary = ""
    max_length: Annotated[
        Size | None,
        Doc(
            "maximum tokens per text, longer ones are truncated; none: enough for 95 % of the "
            "training texts, up to 512"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class TextTableConfig(RowsConfig, DataConfig):
    """A table of your own with a text in each row."""

    path: Annotated[str, Doc("the file: .csv, .tsv, .csv.gz, .tsv.gz or .parquet")] = ""
    encoding: Encoding = ""
    text: Annotated[str, Doc("the column that holds the text")] = ""
    target: Annotated[tuple[str, ...], Doc("the column to predict, or several")] = ()
    target_kind: Annotated[
        Literal["auto", "class", "real", "labels"],
        Doc(
            "kind of target; auto: text and few distinct integers are a class, everything else is "
            "real"
        ),
    ] = "auto"
    drop_missing_target: Annotated[bool, Doc("drop rows without a target")] = False
    drop_missing_text: Annotated[bool, Doc("drop rows without a text")] = False
    split_column: SplitColumn = None
    group_column: Annotated[
        str | None, Doc("the column of groups: rows of one group are never in two splits")
    ] = None


def load_text_table(config: TextTableConfig) -> Data:
    """Read a table file; what cannot be learned from is refused before any training."""
    if not config.path:
        raise ConfigError("path is empty, wanted the path of a .csv, .tsv or .parquet file")
    return text_table_data(read_text_rows(config.path, config.encoding), config)


def reload_text_table(config: TextTableConfig, encoder: RowEncoder) -> Data:
    """The table of a run as the run read it."""
    return text_table_data(read_text_rows(config.path, config.encoding), config, encoder=encoder)


SOURCE = Source(
    config=TextTableConfig,
    load=load_text_table,
    reload=reload_text_table,
    sentence="your own table with a text in each row: CSV, TSV or parquet",
    origin="your file",
    licence="yours",
    inputs=("tokens", "features"),
)


def text_table_data(
    table: RawTable,
    config: TextTableConfig,
    *,
    weights: Tensor | None = None,
    encoder: RowEncoder | None = None,
) -> Data:
    """The rows of a table as tokens and targets.

    Args:
        table: the rows.
        config: the columns, the tokens, and how rows are held out.
        weights: how much each row counts (N,).
        encoder: of a run that was trained with these; None: fitted on the training rows.
    """
    _check_settings(table, config)
    kept, notes = _complete_rows(table, config)
    target = (
        TargetEncoder.fit(kept, config.target, config.target_kind)
        if encoder is None
        else _target_of(encoder)
    )
    targets = target.encode(kept)
    division, divided, test_is_given = divide_by_settings(
        kept,
        config,
        config.split_column,
        classes=targets if target.kind == "class" else None,
        group_column=config.group_column,
    )
    split_column = find_split_column(kept, config.split_column)
    check_groups_apart(kept, division, config.group_column, split_column)
    texts = kept.column(config.text)
    tokenizer = (
        _fitted([texts[row] for row in division["train"].tolist()], config)
        if encoder is None
        else encoder.tokenizer
    )
    tokens = tokenizer.encode_all(texts)
    learned = [tokens[row] for row in division["train"].tolist()]
    encoder = encoder or _encoder(tokenizer, learned, target, config)
    whole = Split(
        inputs=encoder.encode_tokens(tokens),
        targets=targets,
        weights=None if weights is None else weights[list(kept.positions)],
    )
    splits = {part: whole.take(rows) for part, rows in division.items() if len(rows)}
    data = Data(
        name=table.name,
        spec=replace(encoder.spec, class_type=target.class_type(table)),
        train=splits["train"],
        val=splits.get("val"),
        test=splits.get("test"),
        preprocessor=encoder,
        notes=(*table.notes, *notes, divided, *_told(encoder, learned, kept)),
        test_is_given=test_is_given,
    )
    check_data(data)
    return data


def _check_settings(table: RawTable, config: TextTableConfig) -> None:
    if len(table.columns) == 1:
        raise DataError(
            f"{table.name} has one column, wanted a text and a target; a language model is "
            f"trained on plain text, without --text and --target"
        )
    for setting, given in (("text", config.text), ("target", config.target)):
        if not given:
            raise ConfigError(
                f"{setting} is missing, wanted a column of {table.name}: {table.column_list}"
            )
    for column in (config.text, *config.target):
        table.column(column)
    if config.text in config.target:
        raise ConfigError(f"column {config.text!r} is used both as text and as target")


def _complete_rows(table: RawTable, config: TextTableConfig) -> tuple[RawTable, tuple[str, ...]]:
    """The rows that have a text and all their targets, and what was left out."""
    if not config.drop_missing_target:
        check_present(table, config.target, "; give --drop-missing-target to drop them")
    if not config.drop_missing_text:
        advice = "; give --set data.drop_missing_text=true to drop them"
        check_present(table, [config.text], advice)
    needed = zip(*(table.column(one) for one in (config.text, *config.target)), strict=True)
    rows = [row for row, cells in enumerate(needed) if "" not in cells]
    if len(rows) < MIN_ROWS:
        raise DataError(f"{table.name}: {len(rows)} rows are too few, wanted at least {MIN_ROWS}")
    gone = len(table) - len(rows)
    if not gone:
        return table, ()
    return table.take(rows), (f"{gone} of {len(table)} rows were dropped, a cell is missing",)


def _fitted(texts: list[str], config: RowsConfig) -> Tokenizer:
    if config.vocabulary:
        return read_run_tokenizer(Path(config.vocabulary))
    usual = USUAL_SIZE if config.inputs == "tokens" else BAG_SIZE
    return TOKENIZERS.load(config.tokenizer).fit(
        texts,
        vocab_size=config.vocab_size or usual,
        min_count=config.min_count,
        lower=config.lower,
    )


def _encoder(
    tokenizer: Tokenizer, learned: list[list[int]], target: TargetEncoder, config: TextTableConfig
) -> RowEncoder:
    if tokenizer.size == len(SPECIALS):
        raise DataError(
            f"no token of column {config.text!r} occurs min_count={config.min_count} times"
        )
    needed = int(np.percentile([len(text) for text in learned], LONG_SHARE, method="higher"))
    return RowEncoder(
        tokenizer=tokenizer,
        length=config.max_length or max(1, min(needed, LONGEST)),
        column=config.text,
        target=target.kind,
        target_columns=target.columns,
        class_names=target.class_names,
        inputs=config.inputs,
        weights=word_weights(learned, tokenizer.size) if config.inputs == "tf-idf" else (),
        encoding=config.encoding,
    )


def _target_of(encoder: RowEncoder) -> TargetEncoder:
    return TargetEncoder(
        kind=encoder.target, columns=encoder.target_columns, class_names=encoder.class_names
    )


def _told(encoder: RowEncoder, learned: list[list[int]], table: RawTable) -> tuple[str, ...]:
    """What became of the text and of the targets."""
    column, tokenizer = encoder.column, encoder.tokenizer
    total, unknown = sum(map(len, learned)), sum(text.count(UNK) for text in learned)
    words = f"{tokenizer.size - len(SPECIALS):,} {tokenizer.kind} tokens"
    said = [f"{column}: text, {words} known, {share(unknown, total)} of the training text unknown"]
    if encoder.inputs == "tokens":
        cut = sum(len(text) > encoder.length for text in learned)
        longest = max(map(len, learned))
        said.append(
            f"{column}: {encoder.length} tokens per text; {share(cut, len(learned))} of the "
            f"training texts are truncated, the longest has {longest:,}"
        )
    target = _target_of(encoder)
    return (*said, *(f"{one}: {target.note(table, one)}" for one in target.columns))
