"""Words by the company they keep: counts, associations, factors of them, and vectors.

Loaded when they are first used: all of them need scipy's sparse matrices, which a run without
words should not pay for.
"""

from typing import TYPE_CHECKING

from netwright.core.lazy_names import homes_in, lazy_names
from netwright.data.words.window_pairs import window_pairs as window_pairs

if TYPE_CHECKING:
    from netwright.data.words.association import pointwise_information as pointwise_information
    from netwright.data.words.association import positive_information as positive_information
    from netwright.data.words.cooccurrence import count_cooccurrences as count_cooccurrences
    from netwright.data.words.corpus_counts import count_corpus as count_corpus
    from netwright.data.words.corpus_counts import count_corpus_terms as count_corpus_terms
    from netwright.data.words.latent_space import LatentSpace as LatentSpace
    from netwright.data.words.latent_space import factor_matrix as factor_matrix
    from netwright.data.words.term_documents import count_terms as count_terms
    from netwright.data.words.term_documents import weigh_terms as weigh_terms
    from netwright.data.words.topics import Topics as Topics
    from netwright.data.words.topics import find_topics as find_topics
    from netwright.data.words.word_corpus import WordsConfig as WordsConfig

_HOMES = homes_in(
    __name__,
    {
        "association": ["pointwise_information", "positive_information"],
        "cooccurrence": ["count_cooccurrences"],
        "corpus_counts": ["count_corpus", "count_corpus_terms"],
        "latent_space": ["LatentSpace", "factor_matrix"],
        "term_documents": ["count_terms", "weigh_terms"],
        "topics": ["Topics", "find_topics"],
        "word_corpus": ["WordsConfig"],
    },
)
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES, loaded=["window_pairs"])
