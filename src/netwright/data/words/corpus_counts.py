"""Words of files of any size: which stand near which, and which in which text.

The files are read once, encoded into a file of numbers, and counted. What is held are the counts
that are not 0 and a part of the text, not the text.

Shapes: N texts, V words.
"""

from typing import cast

from scipy.sparse import csr_array

from netwright.data.text.encoder import TextEncoder
from netwright.data.text.tokenizer import SPECIALS
from netwright.data.words.cooccurrence import count_cooccurrences
from netwright.data.words.term_documents import count_terms
from netwright.data.words.word_corpus import WordsConfig, load_words
from netwright.data.words.word_stream import WordStream


def count_corpus(config: WordsConfig, window: int) -> tuple[tuple[str, ...], csr_array]:
    """The words of files, the most common first, and how often each two are near (V, V).

    Args:
        config: where the files are, and which words count; rare ones are left out of the text.
        window: the farthest distance that counts; no pair reaches from one text into the next.
    """
    text, tokens = _encoded(config)
    counts = count_cooccurrences(text.texts(), len(tokens), window)
    first = len(SPECIALS)  # what is no word stands at the end, where rows are filled up
    return tokens[first:], csr_array(counts[first:, first:])


def count_corpus_terms(config: WordsConfig) -> tuple[tuple[str, ...], csr_array]:
    """The words of files, the most common first, and how often each is in each text (N, V).

    Args:
        config: where the files are, and which words count. A file is a text, or with `lines` a
            line of one; a text without a known word has no row.
    """
    stream, tokens = _encoded(config)
    first = len(SPECIALS)
    texts = (text for text in stream.texts() if (text >= first).any())
    return tokens[first:], csr_array(count_terms(texts, len(tokens))[:, first:])


def _encoded(config: WordsConfig) -> tuple[WordStream, tuple[str, ...]]:
    """The words by number, which lie in a file, and the token of each number."""
    data = load_words(config)
    tokens = cast(TextEncoder, data.preprocessor).tokenizer.tokens
    return cast(WordStream, data.train), tuple(tokens)
