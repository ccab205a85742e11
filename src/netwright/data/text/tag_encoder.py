"""Sentences of words that each have a tag, as tokens of one length.

A sentence that is longer than an example goes on in the next one, so no word is left out.

Shapes: N examples, T words of each.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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

    tokenizer: WordTokenizer
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
        sentences = self.read(source)
        words = [self.tokenizer.encode_words(sentence.words) for sentence in sentences]
        return padded(list(self._pieces(words)), self.length)

    def encode_targets(self, source: Any) -> Tensor:
        """Tags -> their places among the tags (N, T), IGNORED where there is no word.

        Beside what `encode` takes: a list with the list of tags of each sentence.
        """
        if isinstance(source, str | os.PathLike):
            source = [sentence.tags for sentence in self.read(source)]
        places = {tag: place for place, tag in enumerate(self.tags)}
        known = [[_place(tag, places) for tag in tags] for tags in _tags_of(source)]
        return filled(list(self._pieces(known)), self.length, IGNORED)

    def remarks(self, source: Any) -> tuple[str, ...]:
        """How many of the words are unknown."""
        words = [self.tokenizer.encode_words(one.words) for one in self.read(source)]
        total, unknown = sum(map(len, words)), sum(tokens.count(UNK) for tokens in words)
        return (f"{share(unknown, total)} of the words are unknown",) if unknown else ()

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


def _tags_of(source: Any) -> list[Sequence[str]]:
    return [one.tags if isinstance(one, Sentence) else one for one in source]


def _place(tag: str, places: dict[str, int]) -> int:
    if tag not in places:
        hint = nearest(tag, places) or f"; there are {', '.join(places)}"
        raise DataError(f"unknown tag {tag!r}{hint}")
    return places[tag]
