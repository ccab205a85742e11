"""What texts are about: topics, each with the words that it weighs most.

    lsa   directions of the largest singular values of tf-idf; weights of both signs
    nmf   tf-idf ~ W H with no negative entries (scikit-learn's)
    lda   each text a mixture of topics, each topic a distribution over words (scikit-learn's)

Shapes: N texts, V words, K topics.
Source: Deerwester et al. (1990); Lee and Seung (1999); Blei, Ng and Jordan (2003).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.sparse import csr_array

from netwright.core.checks import check_positive
from netwright.core.errors import ConfigError, DataError
from netwright.data.words.latent_space import Floats, factor_matrix
from netwright.data.words.term_documents import weigh_terms

Method = Literal["lsa", "nmf", "lda"]
ROUNDS = 200  # of NMF; it ends earlier where little changes


@dataclass(frozen=True, kw_only=True)
class Topics:
    """Topics of texts.

    Args:
        words: the vocabulary, V.
        of_words: how much each topic weighs each word (K, V).
        of_texts: how much of each topic is in each text (N, K).
    """

    words: tuple[str, ...]
    of_words: Floats
    of_texts: Floats

    def top_words(self, count: int = 10) -> list[list[str]]:
        """The words that each topic weighs most, the first of them most."""
        order = np.argsort(-self.of_words, axis=1, kind="stable")[:, :count]
        return [[self.words[place] for place in row] for row in order]


def find_topics(
    counts: csr_array,
    words: Sequence[str],
    *,
    topics: int,
    method: Method = "lsa",
    seed: int = 0,
) -> Topics:
    """The topics of texts.

    Args:
        counts: how often each word occurs in each text (N, V).
        words: the names of the columns, V.
        topics: how many, K.
        method: of NMF and LDA scikit-learn's are used.
        seed: of what begins by chance.
    """
    check_positive("topics", topics)
    if method not in get_args(Method):
        raise ConfigError(f"method must be lsa, nmf or lda, got {method!r}")
    if len(words) != counts.shape[1]:
        raise ConfigError(f"words must name {counts.shape[1]} columns, got {len(words)}")
    if topics >= min(counts.shape):
        raise ConfigError(
            f"topics must be fewer than the {counts.shape[0]} texts and the {counts.shape[1]} "
            f"words, got {topics}"
        )
    weights = counts if method == "lda" else weigh_terms(counts)
    if not weights.nnz:
        raise DataError("every word is in all texts or in none: there are no topics to tell apart")
    if method == "lsa":
        space = factor_matrix(weights, topics, seed=seed)
        of_words, of_texts = space.columns.T, space.row_vectors
    else:
        # scikit-learn takes long to import.
        from sklearn.decomposition import NMF, LatentDirichletAllocation  # noqa: PLC0415

        model = (
            NMF(topics, init="nndsvda", random_state=seed, max_iter=ROUNDS, tol=1e-3)
            if method == "nmf"
            else LatentDirichletAllocation(topics, random_state=seed)
        )
        of_texts = model.fit_transform(weights)
        of_words = model.components_
    return Topics(words=tuple(words), of_words=of_words, of_texts=of_texts)
