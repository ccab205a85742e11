"""What models of tokens share: their table of vectors may begin with those of a file."""

from dataclasses import dataclass
from typing import Annotated

from netwright.core.checks import check_no_nul
from netwright.core.config import Config, Doc


@dataclass(frozen=True, kw_only=True)
class FirstVectorsConfig(Config):
    """Settings of a model whose tokens have vectors."""

    embeddings: Annotated[
        str,
        Doc(
            "file of word vectors (word2vec, GloVe) that the embedding starts from; of pairs, that "
            "of the sources, and of the targets where both share a vocabulary"
        ),
    ] = ""
    embeddings_sha256: Annotated[
        str,
        Doc("sha256 of that file; a run keeps it, and a file with another one is refused"),
    ] = ""

    def __post_init__(self) -> None:
        """Check the fields; a file has no NUL in its name."""
        super().__post_init__()
        check_no_nul("embeddings", self.embeddings)
