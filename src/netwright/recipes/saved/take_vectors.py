"""A new run whose embedding starts from the word vectors of a file.

Words that the file has get its vectors. The others keep theirs, as they were drawn, on the scale of
the file's, as in Kim (2014): else what has a vector would drown what has none, or the reverse.

Shapes: V tokens, D features.
"""

from pathlib import Path

import torch

from netwright.core.errors import ConfigError
from netwright.data.preprocessing import Preprocessor
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.tokenizer import SPECIALS
from netwright.data.words.vector_files import load_vectors
from netwright.models.model import Model

WIDTHS = ("embedding", "width")  # what models call the features of a token


def take_vectors(model: Model, source: Path, preprocessor: Preprocessor) -> str:
    """Give the tokens of a model the vectors of a file; gives how many of them have one."""
    table = model.word_table()
    if table is None or not isinstance(preprocessor, TextEncoder):
        raise ConfigError(
            f"embeddings are vectors of tokens: {type(model).__name__} has none on these data"
        )
    vectors = load_vectors(source)
    width = vectors.vectors.shape[1]
    if width != table.shape[1]:
        name = next(name for name in WIDTHS if hasattr(model.config, name))
        raise ConfigError(
            f"the vectors of {source.name} have {width} features, the embedding of this model "
            f"{table.shape[1]}: --set model.{name}={width}"
        )
    first = len(SPECIALS)
    places = [vectors.place(token) for token in preprocessor.tokenizer.tokens[first:]]
    found = [(row, place) for row, place in enumerate(places, first) if place is not None]
    if not found:
        raise ConfigError(f"{source.name} has none of the {len(places):,} words of these data")
    rows, theirs = (torch.tensor(column) for column in zip(*found, strict=True))
    given = torch.from_numpy(vectors.vectors)[theirs]
    with torch.no_grad():
        drawn = table[first:].std()
        if drawn > 0:
            table[first:] *= (given.std(correction=0) / drawn).to(table)
        table[rows.to(table.device)] = given.to(table)
    return f"{len(found):,} of {len(places):,} words start from the vectors of {source.name}"
