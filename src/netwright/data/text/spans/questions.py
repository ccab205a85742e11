"""Your own questions as data: each with a context, in which its answer stands.

    question,context,answer
    Who wrote it?,"Ada Lovelace wrote the first program.",Ada Lovelace

Shapes: N questions, T tokens of each with its context.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from netwright.core.config import Config, Doc, Size
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data, Split, check_data
from netwright.data.source import DataConfig, Source
from netwright.data.spec import IGNORED
from netwright.data.tables.dialect import Encoding
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.splitting import Divided, SplitColumn, divide_by_settings
from netwright.data.tables.targets import check_present
from netwright.data.text.catalog import fit_tokenizer
from netwright.data.text.encoder import share
from netwright.data.text.pretraining.run_tokenizer import RunVocabulary, read_run_tokenizer
from netwright.data.text.spans.passage import read_passages
from netwright.data.text.spans.span_encoder import LONGEST_QUESTION, SpanEncoder, find_answers
from netwright.data.text.text_rows import read_text_rows
from netwright.data.text.tokenizer import SPECIALS, UNK, Tokenizer

LONGEST = 384  # tokens of a question and its context, where nothing else is said
LONG_SHARE = 95  # per cent of the training rows that are not cut, up to LONGEST
KINDS = ("word", "wordpiece")  # byte pairs and characters do not end where words do


@dataclass(frozen=True, kw_only=True)
class SpansConfig(Config):
    """How questions and contexts become tokens."""

    tokenizer: Annotated[Literal["word", "wordpiece"], Doc("word or wordpiece")] = "wordpiece"
    vocab_size: Annotated[Size, Doc("maximum vocabulary size, including special tokens")] = 8_000
    min_count: Annotated[int, Ge(1), Doc("minimum count of a token; rarer ones are unknown")] = 2
    lower: Annotated[bool, Doc("convert to lower case")] = True
    vocabulary: RunVocabulary = ""
    max_length: Annotated[
        Size | None,
        Doc(
            "maximum tokens of a question with its context, longer ones are truncated; none: "
            "enough for 95 % of the training rows, up to 384"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class QuestionsConfig(SpansConfig, DataConfig):
    """Questions of your own."""

    path: Annotated[str, Doc("the file: .csv, .tsv, .csv.gz, .tsv.gz or .parquet")] = ""
    encoding: Encoding = ""
    question: Annotated[str, Doc("the column of questions")] = "question"
    context: Annotated[str, Doc("the column of contexts")] = "context"
    answer: Annotated[str, Doc("the column of answers, copied from their contexts")] = "answer"
    split_column: SplitColumn = None


def load_questions(config: QuestionsConfig) -> Data:
    """Read a table of questions; an answer that is not in its context is refused with its row."""
    if not config.path:
        raise ConfigError("path is empty, wanted a table with questions, contexts and answers")
    table = read_text_rows(config.path, config.encoding)
    columns = (config.question, config.context, config.answer)
    check_present(table, columns, "; remove such rows from the file")
    spans = find_answers(table, config.context, config.answer)
    # Questions about one text are never in two splits: their answers would be known.
    divided = divide_by_settings(table, config, config.split_column, group_column=config.context)
    return spans_data(table, spans, columns, config, divided, encoding=config.encoding)


SOURCE = Source(
    config=QuestionsConfig,
    load=load_questions,
    sentence="your own questions with contexts and the answers in them: CSV, TSV or parquet",
    origin="your file",
    licence="yours",
    inputs=("tokens",),
)


def spans_data(
    table: RawTable,
    answers: Sequence[Sequence[tuple[int, int]]],
    columns: tuple[str, ...],
    config: SpansConfig,
    divided: Divided,
    *,
    encoding: str = "",
) -> Data:
    """Questions as data.

    Args:
        table: the questions and their contexts.
        answers: of each question, by first character and length; the first is learned from.
        columns: of questions, contexts and answers.
        config: how they become tokens.
        divided: the rows of each part.
        encoding: how the bytes of its file are text, for new ones.
    """
    learned = table.take(divided.division["train"].tolist())
    encoder = replace(_encoder(learned, columns, config), encoding=encoding)
    inputs, targets = encoder.encode(table), encoder.encode_spans(table, answers)
    is_there = targets[:, 1, 0] != IGNORED
    splits, notes = {}, []
    for part, rows in divided.division.items():
        gone = int((~is_there[rows]).sum())
        if gone:
            what = "left out" if part == "train" else "counted as missed"
            notes.append(
                f"{share(gone, len(rows))} of the {part} answers are cut off, these rows are {what}"
            )
        kept = rows[is_there[rows]] if part == "train" else rows
        if len(kept):
            splits[part] = Split(inputs=inputs[kept], targets=targets[kept])
    if "train" not in splits:
        raise DataError(
            f"no answer of {table.name} is within the first {encoder.length} tokens, give "
            "data.max_length a larger value"
        )
    data = Data(
        name=table.name,
        spec=encoder.spec,
        train=splits["train"],
        val=splits.get("val"),
        test=splits.get("test"),
        preprocessor=encoder,
        notes=(*table.notes, divided.note, *_told(encoder, learned), *notes),
        test_is_given=divided.test_is_given,
    )
    check_data(data)
    return data


def _encoder(learned: RawTable, columns: tuple[str, ...], config: SpansConfig) -> SpanEncoder:
    questions, contexts = (learned.column(column) for column in columns[:2])
    tokenizer = _tokenizer([*questions, *dict.fromkeys(contexts)], config)
    passages = read_passages(contexts, tokenizer)
    asked = [min(len(one), LONGEST_QUESTION) for one in tokenizer.encode_all(questions)]
    sizes = [
        count + 1 + len(passages[context].tokens)
        for count, context in zip(asked, contexts, strict=True)
    ]
    needed = int(np.percentile(sizes, LONG_SHARE, method="higher"))
    length = config.max_length or min(needed, LONGEST)
    return SpanEncoder(tokenizer=tokenizer, length=length, columns=columns)


def _tokenizer(texts: list[str], config: SpansConfig) -> Tokenizer:
    if config.vocabulary:
        found = read_run_tokenizer(Path(config.vocabulary))
        if found.kind not in KINDS:
            raise ConfigError(
                f"spans need a tokenizer of {' or '.join(KINDS)}, that of {config.vocabulary} is "
                f"{found.kind}"
            )
        return found
    return fit_tokenizer(texts, config, "the questions and contexts")


def _told(encoder: SpanEncoder, learned: RawTable) -> tuple[str, ...]:
    tokens = encoder.encode(learned)
    total, unknown = int((tokens > 0).sum()), int((tokens == UNK).sum())
    size = encoder.tokenizer.size - len(SPECIALS)
    return (
        f"{size:,} {encoder.tokenizer.kind} tokens known, {share(unknown, total)} of the training "
        f"text unknown; {encoder.length} tokens of a question with its context",
    )
