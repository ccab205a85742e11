"""The index of a folder of token files: which files are which part, and the tokenizer they are of.

shards/index.json         dtype, size of the vocabulary, and the files of train, val and test
shards/vocabulary.json    the tokenizer
shards/train-00000.bin    tokens, two or four bytes each, and nothing else
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.core.errors import DataError
from netwright.core.files.inside import has_file
from netwright.core.files.manifest import SHA256
from netwright.core.files.storage import read_json, write_json
from netwright.core.limits import FILES
from netwright.data.loading.token_files import DTYPES, TokenFile, TokenStream
from netwright.data.text.catalog import load_tokenizer
from netwright.data.text.tokenizer import Tokenizer

INDEX, VOCABULARY = "index.json", "vocabulary.json"
FORMAT = 1
PARTS = ("train", "val", "test")
MOST_TOKENS = 2**40  # of a file: the sum of as many files as are allowed fits 64 bits
NAME = re.compile(r"[A-Za-z0-9_-]+\.bin")  # no path: a file lies in the folder itself


@dataclass(frozen=True)
class ShardIndex:
    """What the index says.

    Args:
        dtype: of a token, uint16 or uint32.
        vocab_size: how many different tokens there are.
        parts: train, val or test -> its files in order.
    """

    dtype: str
    vocab_size: int
    parts: Mapping[str, tuple[TokenFile, ...]]

    def stream(self, folder: Path, part: str) -> TokenStream:
        """The tokens of a part."""
        return TokenStream(folder, self.parts[part], self.dtype, self.vocab_size)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        parts = {part: [file._asdict() for file in files] for part, files in self.parts.items()}
        return {
            "format": FORMAT,
            "dtype": self.dtype,
            "vocab_size": self.vocab_size,
            "parts": parts,
        }


def dtype_for(vocab_size: int) -> str:
    """Two bytes a token, as long as they hold every token."""
    return "uint16" if vocab_size <= 2**16 else "uint32"


def write_index(folder: Path, index: ShardIndex, tokenizer: Tokenizer) -> None:
    """The tokenizer first: where there is an index, the folder is complete."""
    write_json(folder / VOCABULARY, tokenizer.to_json())
    write_json(folder / INDEX, index.to_json())


def read_index(folder: Path) -> ShardIndex:
    """The index of a folder; one that is not as it is written is refused."""
    if not has_file(folder / INDEX):
        raise DataError(f"{folder} has no {INDEX}: make it with netwright prepare CORPUS --out")
    return parse_index(read_json(folder / INDEX), folder)


def parse_index(told: Any, folder: Path | str) -> ShardIndex:
    """The index in what its file holds.

    Args:
        told: the value of the file.
        folder: what refusals name: where it lies.
    """
    where = f"{folder}/{INDEX}"
    try:
        if told["format"] != FORMAT:
            raise DataError(f"{where} has format {told['format']!r}, wanted {FORMAT}")
        parts = {
            part: tuple(_file(where, TokenFile(**values)) for values in files)
            for part, files in told["parts"].items()
        }
        index = ShardIndex(told["dtype"], told["vocab_size"], parts)
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{where} is not an index of token files: {error!r:.80}") from None
    FILES.check(folder, sum(map(len, parts.values())), "lists")
    is_dtype = isinstance(index.dtype, str) and index.dtype in DTYPES
    if not is_dtype or type(index.vocab_size) is not int or index.vocab_size < 1:
        raise DataError(
            f"{where} must have dtype {' or '.join(DTYPES)} and a vocab_size, got "
            f"{index.dtype!r} and {index.vocab_size!r}"
        )
    if not set(parts) <= set(PARTS) or not parts.get("train"):
        raise DataError(f"{where} must list files of train, and may of val and test")
    return index


def read_vocabulary(folder: Path) -> Tokenizer:
    """The tokenizer of a folder of token files."""
    return parse_vocabulary(read_json(folder / VOCABULARY), folder)


def parse_vocabulary(told: Any, folder: Path | str) -> Tokenizer:
    """The tokenizer in what its file holds; the folder is named by refusals."""
    try:
        return load_tokenizer(told)
    except (KeyError, TypeError) as error:
        raise DataError(f"{folder}/{VOCABULARY} is not a tokenizer: {error!r:.60}") from None


def _file(where: str, file: TokenFile) -> TokenFile:
    if not is_token_file(file):
        raise DataError(f"{where} lists {file!r:.80}, which is no token file")
    return file


def is_token_file(file: TokenFile) -> bool:
    """Whether this, which may come from elsewhere, has a name of a file here, a count and a sum."""
    is_name = isinstance(file.name, str) and NAME.fullmatch(file.name)
    is_count = type(file.tokens) is int and 0 <= file.tokens <= MOST_TOKENS
    is_sum = isinstance(file.sha256, str) and SHA256.fullmatch(file.sha256)
    return bool(is_name and is_count and is_sum)
