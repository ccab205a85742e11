"""Which words stand near which in files of any size: read once, encoded into a file, and counted.

What is held are the pairs that occur and a part of the text, not the text.

Shapes: V words.
"""

from typing import cast

from scipy.sparse import csr_array

from netwright.data.text.encoder import TextEncoder
from netwright.data.text.tokenizer import SPECIALS
from netwright.data.words.cooccurrence import count_cooccurrences
from netwright.data.words.word_corpus import WordsConfig, load_words
from netwright.data.words.word_stream import WordStream


def count_corpus(config: WordsConfig, window: int) -> tuple[tuple[str, ...], csr_array]:
    """The words of files, the most common first, and how often each two are near (V, V).

    Args:
        config: where the files are, and which words count; rare ones are left out of the text.
        window: the farthest distance that counts; no pair reaches from one text into the next.
    """
    data = load_words(config)
    tokens = cast(TextEncoder, data.preprocessor).tokenizer.tokens
    counts = count_cooccurrences(cast(WordStream, data.train).texts(), len(tokens), window)
    first = len(SPECIALS)  # what is no word stands at the end, where rows are filled up
    return tuple(tokens[first:]), csr_array(counts[first:, first:])
