"""Sequences of symbols: one token a character, filled up with padding to one length.

    token of symbols[i] = i + 1,      0 = padding

Shapes: N sequences, T tokens.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.core.errors import DataError
from netwright.core.flat_record import from_plain, to_plain
from netwright.data.encoder_checks import check_sizes
from netwright.data.files.file_content import read_content
from netwright.data.preprocessing import Preprocessor
from netwright.data.raw_arrays import TEXT, WHOLE, read_array
from netwright.data.targets import encode_classes

PADDING = 0


@dataclass(frozen=True, kw_only=True)
class SymbolEncoder(Preprocessor):
    """Texts of single-character symbols -> tokens; and the class of each text.

    It takes a list of texts, tokens as whole numbers (N, T), or the path of a file with one text a
    line.

    Args:
        symbols: the characters, in the order of their tokens.
        length: tokens of one input, T.
        class_names: the classes in the order of the outputs.
    """

    kind: ClassVar[str] = "symbols"

    symbols: str
    length: int
    class_names: tuple[str, ...]

    @property
    def input_shape(self) -> tuple[int]:
        """(T,)."""
        return (self.length,)

    def read(self, source: Any) -> Any:
        """The lines of a file; all else as it is."""
        if not isinstance(source, str | Path):
            return source
        try:
            return read_content(Path(source).expanduser()).decode("utf-8").splitlines()
        except OSError as error:
            raise DataError(f"{source}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise DataError(f"{source}: is not UTF-8 text") from None

    def encode(self, source: Any) -> Tensor:
        """Texts, or tokens (N, T) -> int64 (N, T)."""
        array = read_array("inputs", self.read(source))
        if array.dtype.kind == TEXT and array.ndim == 1:
            return self._tokens(array.tolist())
        if array.dtype.kind not in WHOLE:
            raise DataError(f"inputs must be texts or whole numbers, got dtype {array.dtype}")
        tokens = torch.from_numpy(array.astype(np.int64))
        check_shape("inputs", tokens, "N", self.length)
        wrong = ((tokens < PADDING) | (tokens > len(self.symbols))).nonzero()
        if len(wrong):
            row, place = wrong[0].tolist()
            got = f"got {int(tokens[row, place])} at [{row}, {place}]"
            raise DataError(f"tokens must lie between 0 and {len(self.symbols)}, {got}")
        return tokens

    def encode_targets(self, source: Any) -> Tensor:
        """Class names -> their indices (N,)."""
        if isinstance(source, str | Path):
            raise DataError(f"{source} has no classes: give other data as (texts, classes)")
        return encode_classes(source, self.class_names)

    def units(self) -> tuple[Tensor, Tensor]:
        """Tokens are what they are."""
        offset = torch.zeros(self.length, dtype=torch.float64)
        return offset, torch.ones_like(offset)

    def decode(self, inputs: Tensor) -> list[dict[str, str]]:
        """Each row as its text."""
        return [{"text": self._text(row)} for row in inputs.tolist()]

    def check_numbers(self) -> None:
        """Refuse a length that no text has."""
        check_sizes("length", *self.input_shape)

    def to_json(self) -> dict[str, Any]:
        """Plain text, numbers and lists."""
        return to_plain(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "SymbolEncoder":
        """The encoder that `to_json` gave."""
        return from_plain(cls, values)

    def _text(self, tokens: list[int]) -> str:
        return "".join(self.symbols[token - 1] for token in tokens if token != PADDING)

    def _tokens(self, texts: list[str]) -> Tensor:
        token_of = {symbol: place + 1 for place, symbol in enumerate(self.symbols)}
        rows = []
        for row, text in enumerate(texts):
            for symbol in text:
                if symbol not in token_of:
                    raise DataError(f"text {row} must be made of {self.symbols!r}, got {symbol!r}")
            if not 0 < len(text) <= self.length:
                raise DataError(f"text {row} must have 1 to {self.length} symbols, got {len(text)}")
            filling = [PADDING] * (self.length - len(text))
            rows.append([token_of[symbol] for symbol in text] + filling)
        return torch.tensor(rows, dtype=torch.int64).view(len(rows), self.length)
