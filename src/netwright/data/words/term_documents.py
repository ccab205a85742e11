r"""Which words stand in which texts, and what each says about its text.

    tf-idf(w, d) = N(w, d) ln(|D| / |{d in D : w in d}|)

A word that every text has tells none of them from another, and weighs 0. scikit-learn adds 1 to
the logarithm by default, so that such a word weighs as much as it occurs.

Shapes: N texts, V words.
Source: Sparck Jones, "A statistical interpretation of term specificity" (1972).
"""

from collections.abc import Iterable

import numpy as np
from scipy.sparse import coo_array, csr_array

from netwright.core.checks import check_positive
from netwright.core.errors import DataError
from netwright.data.words.cooccurrence import Words


def count_terms(texts: Iterable[Words], size: int) -> csr_array:
    """How often each word occurs in each text (N, V); unknown words, which are negative, in none.

    Args:
        texts: words by number, one array a text.
        size: words of the vocabulary, V.
    """
    check_positive("size", size)
    rows, columns, counts = [], [], []
    length = 0
    for text in texts:
        words, times = np.unique(text[text >= 0], return_counts=True)
        if words.max(initial=-1) >= size:
            raise DataError(f"word {words.max()} is out of range: there are {size} words")
        rows.append(np.full(len(words), length))
        columns.append(words)
        counts.append(times.astype(np.float64))
        length += 1
    if not length:
        raise DataError("there are no texts to count words in")
    places = (np.concatenate(rows), np.concatenate(columns))
    return coo_array((np.concatenate(counts), places), shape=(length, size)).tocsr()


def inverse_document_frequencies(counts: csr_array) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """ln(N / texts that have the word), (V,); 0 for a word that no text has."""
    have = (counts > 0).sum(axis=0)
    return np.where(have > 0, np.log(counts.shape[0] / np.maximum(have, 1)), 0.0)


def weigh_terms(counts: csr_array) -> csr_array:
    """tf-idf of each word in each text (N, V)."""
    weighed = counts.tocoo()
    weighed.data = weighed.data * inverse_document_frequencies(counts)[weighed.col]
    weighed.eliminate_zeros()
    return weighed.tocsr()
