"""Words by the company they keep: counts, associations, factors of them, and vectors."""

from netwright.data.words.association import pointwise_information, positive_information
from netwright.data.words.cooccurrence import count_cooccurrences
from netwright.data.words.corpus_counts import count_corpus
from netwright.data.words.latent_space import LatentSpace, factor_matrix
from netwright.data.words.term_documents import count_terms, weigh_terms
from netwright.data.words.topics import Topics, find_topics
from netwright.data.words.window_pairs import window_pairs

__all__ = [
    "LatentSpace",
    "Topics",
    "count_cooccurrences",
    "count_corpus",
    "count_terms",
    "factor_matrix",
    "find_topics",
    "pointwise_information",
    "positive_information",
    "weigh_terms",
    "window_pairs",
]
