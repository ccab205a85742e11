"""A new run whose embedding starts from the word vectors of a file.

Words that the file has get its vectors. The others keep theirs, as they were drawn, on the scale of
the file's, as in Kim (2014): else what has a vector would drown what has none, or the reverse.

Of pairs of texts the sources get them, and the targets where both share a vocabulary: vectors of
one language mean nothing in another. The settings keep the sha256 of the file.

Shapes: V tokens, D features.
"""

from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from netwright.core.config import Config
from netwright.core.errors import ConfigError
from netwright.core.files.storage import sha256_of
from netwright.data.preprocessing import Preprocessor
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.tokenizer import SPECIALS, Tokenizer
from netwright.data.words.vector_files import load_vectors
from netwright.data.words.word_vectors import Vectors
from netwright.models.first_vectors import FirstVectorsConfig
from netwright.models.model import Model

WIDTHS = ("embedding", "width")  # what models call the features of a token


def with_file_sum(settings: Config | None) -> Config | None:
    """The settings of a model with the sha256 of the file that its vectors start from."""
    if not isinstance(settings, FirstVectorsConfig) or settings.embeddings_sha256:
        return settings
    path = Path(settings.embeddings).expanduser()
    # A pipe can be read once only, and what does not exist is refused where it is read.
    is_summed = bool(settings.embeddings) and path.is_file()
    return replace(settings, embeddings_sha256=sha256_of(path)) if is_summed else settings


def tokens_read(preprocessor: Preprocessor) -> Tokenizer | None:
    """What reads the texts, of pairs their sources; None for data without texts."""
    if isinstance(preprocessor, PairEncoder):
        return preprocessor.source
    return preprocessor.tokenizer if isinstance(preprocessor, TextEncoder) else None


def take_vectors(model: Model, settings: FirstVectorsConfig, preprocessor: Preprocessor) -> str:
    """Give the tokens of a model the vectors of a file; gives how many of them have one."""
    table, tokenizer = model.word_table(), tokens_read(preprocessor)
    if table is None or tokenizer is None:
        raise ConfigError(
            f"embeddings are vectors of tokens: {type(model).__name__} has none on these data"
        )
    source = Path(settings.embeddings).expanduser()
    vectors = load_vectors(source)
    _check_sum(source, settings.embeddings_sha256)
    width = vectors.vectors.shape[1]
    if width != table.shape[1]:
        name = next(name for name in WIDTHS if hasattr(model.config, name))
        raise ConfigError(
            f"the vectors of {source.name} have {width} features, the embedding of this model "
            f"{table.shape[1]}: --set model.{name}={width}"
        )
    first = len(SPECIALS)
    places = [vectors.place(token) for token in tokenizer.tokens[first:]]
    found = [(row, place) for row, place in enumerate(places, first) if place is not None]
    if not found:
        raise ConfigError(f"{source.name} has none of the {len(places):,} words of these data")
    rows, theirs = (torch.tensor(column) for column in zip(*found, strict=True))
    told = model.told_table() if model.spec.shared_vocabulary else None
    for one in (table, told):
        if one is not None:
            _fill(one, rows, vectors.vectors[theirs.numpy()])
    return f"{len(found):,} of {len(places):,} words start from the vectors of {source.name}"


@torch.no_grad()
def _fill(table: Tensor, rows: Tensor, vectors: Vectors) -> None:
    """Write vectors into rows of a table (V, D), and bring the others to their scale."""
    given, first = torch.from_numpy(vectors), len(SPECIALS)
    drawn = table[first:].std()
    if drawn > 0:
        table[first:] *= (given.std(correction=0) / drawn).to(table)
    table[rows.to(table.device)] = given.to(table)


def _check_sum(source: Path, wanted: str) -> None:
    """Refuse a file that is not the one of the recipe."""
    if wanted and sha256_of(source) != wanted:
        raise ConfigError(
            f"{source.name} is not the file that this recipe was trained with: its sha256 is not "
            f"{wanted:.12}...; --set model.embeddings_sha256= takes it as it is"
        )
