"""Passages: characters to tokens and back, to the ends of words."""

from netwright.data.text.spans.passage import read_passages
from netwright.data.text.tokenizer import UNK
from netwright.data.text.word_tokenizer import WordTokenizer

TEXT = "Ada Lovelace, in 1843, wrote the first program."
TOKENIZER = WordTokenizer.fit([TEXT.replace("1843", "")])


def test_every_word_comes_back_from_its_characters() -> None:
    passage = read_passages([TEXT, TEXT], TOKENIZER)[TEXT]
    for begin, end in passage.words:
        first, last = passage.tokens_of(begin, end)
        assert passage.text_of(first, last) == TEXT[begin:end]
    assert passage.tokens[passage.tokens_of(TEXT.index("1843"), TEXT.index("1843") + 4)[0]] == UNK


def test_a_span_over_words_and_one_that_cuts_them() -> None:
    passage = read_passages([TEXT], TOKENIZER)[TEXT]
    at = TEXT.index("Lovelace, in")
    assert passage.text_of(*passage.tokens_of(at, at + 12)) == "Lovelace, in"
    assert passage.text_of(*passage.tokens_of(at + 2, at + 5)) == "Lovelace"
    assert passage.marked(0, 1) == "[[Ada Lovelace]], in 1843, wrote the first program."
