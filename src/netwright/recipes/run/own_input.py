"""One input of one's own, as a model takes it: a row, a text, an image.

Shapes: T tokens.
"""

import os
from pathlib import Path
from typing import Any

from netwright.core.errors import ConfigError, DataError
from netwright.core.trees import Tree, count_rows
from netwright.data.images.encoder import ImageEncoder
from netwright.data.text.corpus_encoder import CorpusEncoder
from netwright.recipes.run.run import Run


def encode_own(run: Run, source: Any) -> Tree:
    """The encoded input (1, ...); of a language model the tokens of a text (1, T).

    Args:
        run: that is looked into.
        source: a row as a dict or a list of numbers, a text, an image or its path.
    """
    encoder = run.preprocessor
    if isinstance(encoder, CorpusEncoder):
        if not isinstance(source, str):
            raise DataError(f"this run reads one text, got {type(source).__name__}")
        tokens = encoder.prompt(source)
        if tokens.shape[1] > encoder.length:
            raise ConfigError(
                f"the text must have at most {encoder.length} tokens, as many as the model reads, "
                f"got {tokens.shape[1]}"
            )
        return tokens
    is_path = isinstance(encoder, ImageEncoder) and isinstance(source, str | os.PathLike)
    inputs = run.encode([Path(source) if is_path else source])
    if count_rows(inputs) != 1:
        raise DataError(f"one input can be looked at, got {count_rows(inputs)}")
    return inputs
