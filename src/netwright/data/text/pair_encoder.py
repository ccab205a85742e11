"""How pairs of texts are encoded: a source, and the target that is to be said of it.

    inputs   source <pad> ... <bos> target <pad> ...     (S + T): what is read, then what is told
    targets  target <eos> -100 ...                       (T): what was told, one place earlier

Shapes: N pairs, S source tokens, T target tokens with the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, count
from typing import Any, ClassVar

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.flat_record import from_plain, to_plain
from netwright.data.encoder_checks import check_positive, check_sizes
from netwright.data.loading.paired_texts import PairSplit
from netwright.data.preprocessing import Preprocessor
from netwright.data.spec import IGNORED, DataSpec
from netwright.data.tables.raw_table import RawTable, listed
from netwright.data.text.catalog import load_tokenizer
from netwright.data.text.encoder import given_encoding, padded
from netwright.data.text.text_rows import read_text_rows
from netwright.data.text.tokenizer import BOS, EOS, PAD, UNK, Tokenizer

TEXTS = "texts"  # what a list of them is called
SHOWN = 6  # rows that a remark names


def prefixed(table: RawTable, column: str, prefix: str) -> Sequence[str]:
    """The texts of a column, each behind its task: "translate: Ein Haus"; without a prefix alone.

    Source: Raffel et al. (2019), arXiv 1910.10683, section 2.4.
    """
    texts = table.column(column)
    if not prefix:
        return texts
    return [f"{task}: {text}" for task, text in zip(table.column(prefix), texts, strict=True)]


@dataclass(frozen=True, kw_only=True)
class PairEncoder(Preprocessor):
    """Encodes pairs of texts of bounded length; what is longer loses its end.

    It takes a list of texts, the sources; or a table (a path, a frame, rows as dicts) with a column
    of sources and, where targets are known, one of targets.

    Args:
        source: reads the sources.
        target: reads the targets, and writes what was said.
        source_length: S.
        target_length: T, with the end.
        columns: what sources and targets are called in a table.
        encoding: how the bytes of new files are text; empty: UTF-8.
        prefix: the column of tasks in a table, each of which is written before its source; empty:
            there is none, and texts in a list come with their tasks anyhow.
    """

    kind: ClassVar[str] = "text-pairs"

    source: Tokenizer
    target: Tokenizer
    source_length: int
    target_length: int
    columns: tuple[str, str] = ("source", "target")
    encoding: str = ""
    prefix: str = ""

    def reading(self, **settings: str) -> "PairEncoder":
        """The same for files in another encoding."""
        return replace(self, encoding=given_encoding(settings))

    @property
    def spec(self) -> DataSpec:
        """What a model is built to fit."""
        return DataSpec(
            inputs="pairs",
            input_shape=(self.source_length + self.target_length,),
            target="tokens",
            num_outputs=self.target.size,
            target_names=self.columns[1:],
            vocab_size=self.source.size,
            padding=PAD,
            source_length=self.source_length,
            shared_vocabulary=self.source == self.target,
        )

    def read(self, source: Any) -> RawTable:
        """The source as a table; texts in a list are its column of sources."""
        return self._table(source, self.columns[0])

    def encode(self, source: Any) -> Tensor:
        """Sources, or a table -> (N, S + T); of unknown targets a decoder is told <bos> only."""
        table = self.read(source)
        sources, targets = self._sources(table), table.columns.get(self.columns[1])
        return self.encode_pairs(sources, [""] * len(sources) if targets is None else targets)[0]

    def encode_targets(self, source: Any) -> Tensor:
        """Targets, or a table that has them -> (N, T)."""
        targets = self._table(source, self.columns[1]).column(self.columns[1])
        return self._told_and_said(targets)[1]

    def encode_pairs(self, sources: Sequence[str], targets: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Inputs (N, S + T) and targets (N, T)."""
        if len(sources) != len(targets):
            raise DataError(f"there are {len(sources)} sources but {len(targets)} targets")
        read = padded(self.source.encode_all(sources), self.source_length)
        told, said = self._told_and_said(targets)
        return torch.cat((read, told), dim=1), said

    def split(self, source: Any) -> PairSplit:
        """The rows of a table, or (sources, targets), as examples with their texts."""
        if isinstance(source, tuple):
            sources, targets = source
        else:
            table = self.read(source)
            sources, targets = self._sources(table), table.column(self.columns[1])
        told, said = self.encode_pairs(sources, targets)
        return PairSplit(inputs=told, targets=said, sources=sources, references=targets)

    def remarks(self, source: Any) -> tuple[str, ...]:
        """Which sources lose their end, have unknown tokens, or are blank."""
        table = self.read(source)
        tokens = self.source.encode_all(self._sources(table))
        texts = table.column(self.columns[0])
        found = {
            f"sources truncated after {self.source_length} tokens": [
                len(one) > self.source_length for one in tokens
            ],
            "sources with unknown tokens": [UNK in one[: self.source_length] for one in tokens],
            "blank sources": [not text.strip() for text in texts],
        }
        return tuple(
            f"{what}: {listed([table.row_name(row) for row in compress(count(), those)], SHOWN)}"
            for what, those in found.items()
            if any(those)
        )

    def write(self, tokens: Tensor) -> list[str]:
        """What was said (N, T) as texts; nothing comes after the end."""
        return [self.target.decode(_up_to_the_end(row)) for row in tokens.tolist()]

    def names(self, pair: Tensor) -> tuple[list[str], list[str]]:
        """The tokens of one encoded pair (S + T), by name: those read, and those to be said."""
        read, told = pair[: self.source_length], pair[self.source_length :]
        said = [*told[told != PAD].tolist()[1:], EOS]
        return (
            [self.source.text_of(token) for token in read[read != PAD].tolist()],
            [self.target.text_of(token) for token in said],
        )

    def units(self) -> tuple[Tensor, Tensor]:
        """Tokens have none: they are what they are."""
        zeros = torch.zeros(self.source_length + self.target_length, dtype=torch.float64)
        return zeros, zeros + 1

    def decode(self, inputs: Tensor) -> list[dict[str, str]]:
        """Both texts of each pair (N, S + T)."""
        parts = inputs[:, : self.source_length], inputs[:, self.source_length :]
        written = [
            [reader.decode(row) for row in part.tolist()]
            for reader, part in zip((self.source, self.target), parts, strict=True)
        ]
        return [dict(zip(self.columns, pair, strict=True)) for pair in zip(*written, strict=True)]

    def check_numbers(self) -> None:
        """Refuse lengths that no texts have."""
        check_positive("source_length", self.source_length)
        check_positive("target_length", self.target_length)
        check_sizes("the lengths", self.source_length + self.target_length)

    def to_json(self) -> dict[str, Any]:
        """Plain text and numbers, both vocabularies among them."""
        tokenizers = {"source": self.source.to_json(), "target": self.target.to_json()}
        return {**to_plain(self), **tokenizers}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "PairEncoder":
        """The encoder that `to_json` gave."""
        tokenizers = {name: load_tokenizer(values[name]) for name in ("source", "target")}
        return from_plain(cls, {**values, **tokenizers})

    def _table(self, source: Any, column: str) -> RawTable:
        if isinstance(source, list | tuple) and all(isinstance(text, str) for text in source):
            texts = list(source)
            return RawTable(name=TEXTS, columns={column: texts}, positions=range(len(texts)))
        return read_text_rows(source, self.encoding)

    def _sources(self, table: RawTable) -> Sequence[str]:
        """The sources of a table, behind their tasks; texts in a list are as they are."""
        is_given = table.name == TEXTS and self.prefix not in table.columns
        return prefixed(table, self.columns[0], "" if is_given else self.prefix)

    def _told_and_said(self, targets: Sequence[str]) -> tuple[Tensor, Tensor]:
        """What a decoder hears before each token (N, T), and what it is to say (N, T)."""
        said = [[*tokens, EOS] for tokens in self.target.encode_all(targets)]
        told = padded([[BOS, *tokens[:-1]] for tokens in said], self.target_length)
        lengths = torch.tensor([len(tokens) for tokens in said])[:, None]
        beyond = torch.arange(self.target_length) >= lengths
        return told, padded(said, self.target_length).masked_fill(beyond, IGNORED)


def _up_to_the_end(tokens: list[int]) -> list[int]:
    return tokens[: tokens.index(EOS)] if EOS in tokens else tokens
