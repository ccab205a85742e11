"""One long text as windows of tokens, and a prompt as the tokens that a language model reads first.

Shapes: N windows, T tokens of each, P tokens of a prompt.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Split
from netwright.data.files.file_content import Allowance
from netwright.data.loading.windows import scored_once
from netwright.data.spec import DataSpec
from netwright.data.text.encoder import TextEncoder, share
from netwright.data.text.text_files import PLAIN, find_files, read_text
from netwright.data.text.text_lists import texts_of
from netwright.data.text.tokenizer import EOS, UNK, Tokenizer


@dataclass(frozen=True, kw_only=True)
class CorpusEncoder(TextEncoder):
    """Encodes text for a language model; targets are the tokens one place later.

    It takes the path of a text file or of a folder of them, or texts in a list.
    """

    form: ClassVar[str] = "corpus"

    @property
    def spec(self) -> DataSpec:
        """What a model is built to fit."""
        size = self.tokenizer.size
        return DataSpec(
            inputs="tokens",
            input_shape=(self.length,),
            target="tokens",
            num_outputs=size,
            vocab_size=size,
        )

    def prompt(self, text: str) -> Tensor:
        """The tokens (1, P) of the beginning of a text that is to be continued."""
        tokens = self.tokenizer.encode(text)
        if not tokens:
            raise ConfigError(f"a prompt must have at least one token, got {text!r}")
        return torch.tensor([tokens])

    def read(self, source: Any) -> list[str]:
        """The texts of files, or the texts themselves."""
        if isinstance(source, str | os.PathLike):
            files, allowance = find_files(Path(source), PLAIN), Allowance()
            return [read_text(file, self.encoding, allowance) for file in files]
        texts = texts_of(source)
        if texts is not None:
            return texts
        raise DataError(
            f"text must be the path of a file or folder, or texts in a list, got "
            f"{type(source).__name__}"
        )

    def encode(self, source: Any) -> Tensor:
        """The windows of a text (N, T), in which every token is scored once."""
        windows: Tensor = self._windows(source).inputs
        return windows

    def encode_targets(self, source: Any) -> Tensor:
        """What comes next at every place of the windows (N, T)."""
        return self._windows(source).targets

    def remarks(self, source: Any) -> tuple[str, ...]:
        """How much of a text is unknown."""
        stream = stream_of(self.read(source), self.tokenizer)
        unknown = int((stream == UNK).sum())
        return (f"{share(unknown, len(stream))} of the tokens are unknown",) if unknown else ()

    def _windows(self, source: Any) -> Split:
        return scored_once(stream_of(self.read(source), self.tokenizer), self.length)


def stream_of(texts: Sequence[str], tokenizer: Tokenizer) -> Tensor:
    """The tokens of texts, one after the other; where they are several, EOS ends each of them."""
    if len(texts) == 1:
        tokens = iter(tokenizer.each_token(texts[0]))
    else:
        encoded = tokenizer.encode_all(texts)
        tokens = chain.from_iterable(chain(one, (EOS,)) for one in encoded)
    return torch.from_numpy(np.fromiter(tokens, dtype=np.int64))
