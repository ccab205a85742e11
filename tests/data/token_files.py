"""Token files of known tokens, divided in any way."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from netwright.data.loading.token_files import DTYPES, TokenFile, TokenStream


def written_stream(
    folder: Path, tokens: Sequence[int], *cuts: int, dtype: str = "uint16", vocab_size: int = 2**16
) -> TokenStream:
    """A stream of these tokens, in files that are cut at these places."""
    whole = np.array(tokens, DTYPES[dtype])
    files = []
    for number, part in enumerate(np.split(whole, cuts)):
        name = f"train-{number:05}.bin"
        part.tofile(folder / name)
        total = hashlib.sha256(part.tobytes()).hexdigest()
        files.append(TokenFile(name, len(part), total))
    return TokenStream(folder, files, dtype, vocab_size)
