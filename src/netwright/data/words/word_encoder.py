"""Text as words by number, for a model that has learned their vectors.

Shapes: N rows, T words of each.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.data.files.file_content import Allowance
from netwright.data.spec import DataSpec
from netwright.data.text.encoder import TextEncoder, padded, share
from netwright.data.text.text_files import PLAIN, find_files, read_text
from netwright.data.text.text_lists import texts_of
from netwright.data.text.tokenizer import PAD, UNK

ROW = 1000  # words


@dataclass(frozen=True, kw_only=True)
class WordEncoder(TextEncoder):
    """Encodes texts, one a row; words that are unknown stay as such."""

    form: ClassVar[str] = "words"

    @property
    def spec(self) -> DataSpec:
        """What a model is built to fit."""
        return DataSpec(
            inputs="tokens",
            input_shape=(self.length,),
            target="none",
            vocab_size=self.tokenizer.size,
            padding=PAD,
        )

    def read(self, source: Any) -> list[str]:
        """The texts of files, or the texts themselves."""
        if isinstance(source, str | os.PathLike):
            files, allowance = find_files(Path(source), PLAIN), Allowance()
            return [read_text(file, self.encoding, allowance) for file in files]
        texts = texts_of(source)
        if texts is None:
            raise DataError(
                "text must be the path of a file or folder, or texts in a list, got "
                f"{type(source).__name__}"
            )
        return texts

    def encode(self, source: Any) -> Tensor:
        """Words by number (N, T)."""
        return padded(self.tokenizer.encode_all(self.read(source)), self.length)

    def encode_targets(self, source: Any) -> Tensor:
        """There are none."""
        raise ConfigError("words have no targets: this model learns vectors of them")

    def remarks(self, source: Any) -> tuple[str, ...]:
        """How many of the words are unknown."""
        tokens = torch.cat(
            [torch.tensor(one) for one in self.tokenizer.encode_all(self.read(source))]
        )
        unknown = int((tokens == UNK).sum())
        return (f"{share(unknown, len(tokens))} of the words are unknown",) if unknown else ()
