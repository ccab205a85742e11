"""Sentences of words that each have a tag, as tokens of one length.

A word is a token, or several where the tokens are parts of words: its tag is then that of the first
of them, and the others do not count. A sentence that is longer than an example goes on in the next
one, so no word is left out.

Shapes: N examples, T tokens of each.
Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018), section 5.3.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from torch import Tensor

from netwright.core.checks import nearest
from netwright.core.errors import ConfigError, DataError
from netwright.data.files.file_content import Allowance
from netwright.data.spec import IGNORED, DataSpec
from netwright.data.text.conllu import CONLLU, Sentence, read_conllu
from netwright.data.text.encoder import TextEncoder, filled, padded, share
from netwright.data.text.text_files import find_files
from netwright.data.text.tokenizer import PAD, UNK
from netwright.data.text.word_tokenizer import WordTokenizer

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class TagEncoder(TextEncoder):
    """Encodes the words of sentences, and their tags.

    It takes the path of a CoNLL-U file or of a folder of them, or a list of sentences: each a list
    of words, or a text with blanks between the words.

    Args:
        tags: the different tags, in the order of the outputs.
    """

    form: ClassVar[str] = "tagged"

    tags: tuple[str, ...]

    @property
    def spec(self) -> DataSpec:
        """What a model is built to fit."""
        return DataSpec(
            inputs="tokens",
            input_shape=(self.length,),
            target="tags",
            num_outputs=len(self.tags),
            class_names=self.tags,
            vocab_size=self.tokenizer.size,
            padding=PAD,
        )

    def reading(self, **settings: str) -> "TagEncoder":
        """CoNLL-U is UTF-8."""
        raise ConfigError("a CoNLL-U file is always UTF-8: encoding cannot be set")

    def read(self, source: Any) -> list[Sentence]:
        """Sentences of any kind; what comes without tags has none."""
        if isinstance(source, str | os.PathLike):
            files, allowance = find_files(Path(source), CONLLU), Allowance()
            return [sentence for file in files for sentence in read_conllu(file, allowance)]
        if not isinstance(source, list | tuple):
            raise DataError(
                "sentences must be the path of a .conllu file, or a list of them, "
                f"got {type(source).__name__}"
            )
        return [_sentence(one) for one in source]

    def encode(self, source: Any) -> Tensor:
        """Words -> tokens (N, T)."""
        tokens = [list(chain.from_iterable(words)) for words in self._words(source)]
        return padded(list(self._pieces(tokens)), self.length)

    def encode_targets(self, source: Any) -> Tensor:
        """Tags -> their places among the tags (N, T), IGNORED where no word begins.

        Args:
            source: a file, or sentences that have tags.
        """
        sentences, places = self.read(source), {tag: place for place, tag in enumerate(self.tags)}
        rows = []
        for number, (sentence, words) in enumerate(
            zip(sentences, self._words(sentences), strict=True)
        ):
            if len(sentence.tags) != len(words):
                raise DataError(
                    f"sentence {number} has {len(words)} words but {len(sentence.tags)} tags"
                )
            told = [_place(tag, places) for tag in sentence.tags]
            rows.append(
                [
                    place if first else IGNORED
                    for place, tokens in zip(told, words, strict=True)
                    for first in (True, *[False] * (len(tokens) - 1))
                ]
            )
        return filled(list(self._pieces(rows)), self.length, IGNORED)

    def encode_pairs(self, sentences: Any, tags: Any) -> tuple[Tensor, Tensor]:
        """Sentences, and the list of tags of each -> tokens (N, T) and tags (N, T)."""
        read = self.read(sentences)
        if len(read) != len(tags):
            raise DataError(f"there are {len(read)} sentences but {len(tags)} lists of tags")
        tagged = [
            Sentence(words=one.words, tags=tuple(told))
            for one, told in zip(read, tags, strict=True)
        ]
        return self.encode(tagged), self.encode_targets(tagged)

    def write(self, said: Tensor, source: Any) -> list[list[str]]:
        """The tags of each sentence's words, where places of tags were said of tokens (N, T)."""
        texts, begin = [], 0
        for words in self._words(source):
            ends = list(accumulate(map(len, words), initial=0))
            behind = begin + max(1, -(-ends[-1] // self.length))
            places = said[begin:behind].flatten()[ends[:-1]].tolist()
            texts.append([self.tags[place] for place in places])
            begin = behind
        return texts

    def sizes(self, source: Any) -> list[int]:
        """The tokens of each sentence."""
        return [sum(map(len, words)) for words in self._words(source)]

    def remarks(self, source: Any) -> tuple[str, ...]:
        """How many of the words are unknown."""
        words = list(chain.from_iterable(self._words(source)))
        total, unknown = len(words), sum(UNK in tokens for tokens in words)
        return (f"{share(unknown, total)} of the words are unknown",) if unknown else ()

    def _words(self, source: Any) -> list[list[list[int]]]:
        """The tokens of each word of each sentence, at least one."""
        reader, sentences = self.tokenizer, self.read(source)
        if isinstance(reader, WordTokenizer):
            return [[[token] for token in reader.encode_words(one.words)] for one in sentences]
        words = list(dict.fromkeys(word for one in sentences for word in one.words))
        tokens = dict(zip(words, reader.encode_all(words), strict=True))  # each word but once
        return [[tokens[word] or [UNK] for word in one.words] for one in sentences]

    def _pieces(self, sentences: Iterable[Sequence[Item]]) -> Iterator[Sequence[Item]]:
        """Sentences cut to the length of an example; one without words is still an example."""
        for sentence in sentences:
            for begin in range(0, max(1, len(sentence)), self.length):
                yield sentence[begin : begin + self.length]


def _sentence(source: Any) -> Sentence:
    if isinstance(source, Sentence):
        return source
    words = source.split() if isinstance(source, str) else list(source)
    return Sentence(words=tuple(words), tags=())


def _place(tag: str, places: dict[str, int]) -> int:
    if tag not in places:
        hint = nearest(tag, places) or f"; there are {', '.join(places)}"
        raise DataError(f"unknown tag {tag!r}{hint}")
    return places[tag]
