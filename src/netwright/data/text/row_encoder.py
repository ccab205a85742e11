"""Rows with a text each, as tokens of one length, or as bags of words for models of features.

Shapes: N rows, T tokens of each, V words of the vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from netwright.data.encoder_checks import check_count
from netwright.data.spec import DataSpec
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.reading import is_table
from netwright.data.tables.targets import TableTarget, TargetEncoder
from netwright.data.targets import encode_classes, encode_labels, encode_reals
from netwright.data.text.bag_of_words import count_tokens, inverse_document_frequency
from netwright.data.text.encoder import TextEncoder, padded, share
from netwright.data.text.text_lists import texts_of
from netwright.data.text.text_rows import read_text_rows
from netwright.data.text.tokenizer import PAD, SPECIALS, UNK

TextInputs = Literal["tokens", "bag", "tf-idf"]


@dataclass(frozen=True, kw_only=True)
class RowEncoder(TextEncoder):
    """Encodes the texts of rows, and their targets.

    It takes the path of a table with the text column, a frame, a row as a dict or a list of them,
    or texts in a list.

    Args:
        column: the text column.
        target: what is predicted.
        target_columns: the target columns.
        class_names: the classes or labels in the order of the outputs; empty for reals.
        inputs: tokens in their order, or how often each word occurs, as it is or weighted.
        weights: what each word weighs (V,), where inputs are tf-idf.
    """

    form: ClassVar[str] = "rows"

    column: str
    target: TableTarget
    target_columns: tuple[str, ...]
    class_names: tuple[str, ...] = ()
    inputs: TextInputs = "tokens"
    weights: tuple[float, ...] = ()

    @property
    def spec(self) -> DataSpec:
        """What a model is built to fit."""
        words, is_bag = self.tokenizer.tokens[len(SPECIALS) :], self.inputs != "tokens"
        return DataSpec(
            inputs="features" if is_bag else "tokens",
            input_shape=(len(words) if is_bag else self.length,),
            target=self.target,
            num_outputs=len(self.class_names) or len(self.target_columns),
            class_names=self.class_names,
            target_names=self.target_columns,
            feature_names=words if is_bag else (),
            vocab_size=0 if is_bag else self.tokenizer.size,
            padding=None if is_bag else PAD,
        )

    def read(self, source: Any) -> RawTable:
        """The source as a table; texts in a list are its one column."""
        texts = texts_of(source)
        if texts is not None:
            source = RawTable(
                name="texts", columns={self.column: texts}, positions=range(len(texts))
            )
        return read_text_rows(source, self.encoding)

    def encode(self, source: Any) -> Tensor:
        """Tokens (N, T), or a bag of words (N, V)."""
        return self.encode_tokens(self._tokens(source))

    def encode_tokens(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """The same for texts that are tokens already."""
        if self.inputs == "tokens":
            return padded(texts, self.length)
        counts = count_words(texts, self.tokenizer.size)
        return counts * torch.tensor(self.weights) if self.inputs == "tf-idf" else counts

    def encode_targets(self, source: Any) -> Tensor:
        """The targets of a table, or in a list or array: indices (N,), labels or reals (N, K)."""
        if is_table(source):
            return self._target.encode(self.read(source))
        if self.target == "class":
            return encode_classes(source, self.class_names)
        encode = encode_labels if self.target == "labels" else encode_reals
        return encode(source, len(self.target_columns))

    def remarks(self, source: Any) -> tuple[str, ...]:
        """How much of the texts is unknown, and how many are cut or blank."""
        table = self.read(source)
        texts = self._tokens(table)
        total, unknown = sum(map(len, texts)), sum(text.count(UNK) for text in texts)
        said = [f"{share(unknown, total)} of the tokens are unknown"] if unknown else []
        cut = sum(len(text) > self.length for text in texts) if self.inputs == "tokens" else 0
        if cut:
            said.append(f"{cut} of {len(texts)} texts are truncated after {self.length} tokens")
        blank = sum(not text.strip() for text in table.column(self.column))
        if blank:
            said.append(f"{blank} of {len(texts)} texts are blank")
        return tuple(said)

    def units(self) -> tuple[Tensor, Tensor]:
        """Offset 0 and scale 1 for tokens; of a bag, what one occurrence weighs."""
        if self.inputs == "tokens":
            return super().units()
        ones = torch.ones(self.spec.num_features).double()
        # A word of weight 0 is encoded as 0, whatever it was; 1 keeps the way back finite.
        scale = [1 / weight if weight else 1.0 for weight in self.weights]
        return torch.zeros_like(ones), torch.tensor(scale).double() if scale else ones

    def decode(self, inputs: Tensor) -> list[dict[str, str]]:
        """Tokens as text; a bag as its words and how often they occur."""
        if self.inputs == "tokens":
            return super().decode(inputs)
        words, (_, scale) = self.spec.feature_names, self.units()
        return [
            {
                words[int(place)]: f"{float(row[place] * scale[place]):.4g}"
                for place in row.nonzero()
            }
            for row in inputs.cpu()
        ]

    def check_numbers(self) -> None:
        """Refuse a length that no text has, rows without a target, and weights of other words."""
        super().check_numbers()
        self._target.check_columns()
        if self.inputs == "tf-idf":
            check_count(self.tokenizer.size - len(SPECIALS), weights=self.weights)

    @property
    def _target(self) -> TargetEncoder:
        """How the targets of a table are read."""
        return TargetEncoder(
            kind=self.target, columns=self.target_columns, class_names=self.class_names
        )

    def _tokens(self, source: Any) -> list[list[int]]:
        return self.tokenizer.encode_all(self.read(source).column(self.column))


def count_words(texts: Sequence[Sequence[int]], size: int) -> Tensor:
    """How often each token that is a word occurs (N, V): unknown words are left out."""
    return count_tokens(texts, size)[:, len(SPECIALS) :]


def word_weights(texts: Sequence[Sequence[int]], size: int) -> tuple[float, ...]:
    """What each word weighs in tf-idf (V,), by the training texts."""
    return tuple(inverse_document_frequency(count_words(texts, size)).tolist())
