"""Parts of words as tokens: byte pairs and WordPiece; common words stay whole, rare ones do not.

    byte pairs    begin with the 256 bytes; join the commonest pair of neighbours, again and again
    WordPiece     un ##aff ##able: the longest known beginning, then the longest that goes on

Training and encoding are those of Hugging Face's `tokenizers`; what is kept is the vocabulary.

Source: Sennrich, Haddow and Birch, "Neural machine translation of rare words with subword units"
(2016); Wu et al., "Google's neural machine translation system" (2016), section 4.1.
"""

import json
import re
import unicodedata
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from netwright.core.card import Card
from netwright.core.errors import ConfigError, DataError
from netwright.data.text.tokenizer import SILENT, SPECIALS, Tokenizer

USUAL_SIZE = 8_000  # tokens, where nothing else is said
BYTES = 256
GOES_ON = "##"  # before a part that does not begin a word
# Training goes through a whole word for each pair that is joined in it: one of millions of letters
# would take hours. No language has words of a thousand.
ENDLESS_WORD = re.compile(r"(\S{1000})")


@dataclass(frozen=True, kw_only=True)
class SubwordTokenizer(Tokenizer):
    """What both kinds share: the library does the work, on the vocabulary that is held here."""

    def encode(self, text: str) -> list[int]:
        """The tokens of a text."""
        return self.encode_all([text])[0]

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of each text, several texts at a time."""
        return [found.ids for found in self._library.encode_batch_fast(list(texts))]

    def decode(self, tokens: Iterable[int]) -> str:
        """The parts put together again."""
        shown = [token for token in tokens if token not in SILENT]
        text: str = self._library.decode(shown, skip_special_tokens=False)
        return text

    def library_json(self) -> str:
        """The library's own file of this tokenizer, tokenizer.json."""
        content: str = self._library.to_str()
        return content

    @cached_property
    @abstractmethod
    def _library(self) -> Any:
        """The library's tokenizer with this vocabulary; no token of it is special to the library.

        So a text that holds "<eos>" is encoded as these five characters.
        """


@dataclass(frozen=True, kw_only=True)
class BytePairTokenizer(SubwordTokenizer):
    """Byte pairs: any text at all can be written, nothing is unknown.

    Args:
        merges: the pairs that are joined, in their order; each as its two parts with a blank
            between them.
    """

    kind: ClassVar[str] = "bpe"
    card: ClassVar[Card] = Card(
        sentence="Start with bytes and repeatedly merge the most frequent adjacent pair.",
        formula=r"(a^*, b^*) = \arg\max_{(a, b)} n(ab), \quad V \leftarrow V \cup \{a^* b^*\}",
        symbols={"n(ab)": "how often a is followed by b in the training texts", "V": "vocabulary"},
        source="Sennrich, Haddow and Birch, Neural machine translation of rare words with subword "
        "units (2016)",
    )

    merges: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse pairs that are not made of tokens, or do not make one."""
        super().__post_init__()
        known = set(self.tokens)
        for merge in self.merges:
            first, blank, second = merge.partition(" ") if isinstance(merge, str) else ("",) * 3
            if not blank or not {first, second, first + second} <= known:
                raise DataError(
                    f"a merge of bpe must be two tokens that form a third one, got {merge!r:.60}"
                )

    @property
    def is_lossless(self) -> bool:
        """All but capital letters comes back."""
        return not self.lower

    def text_of(self, token: int) -> str:
        """The bytes of a token as text: its name has a letter for each of them, "Ġ" for a blank."""
        return self.tokens[token] if token < len(SPECIALS) else self.decode([token])

    @classmethod
    def fit(
        cls,
        texts: Sequence[str],
        *,
        vocab_size: int | None = None,
        min_count: int = 1,
        lower: bool = False,
    ) -> "BytePairTokenizer":
        """Join pairs until the vocabulary is full, or no pair occurs `min_count` times."""
        least, size = len(SPECIALS) + BYTES, vocab_size or USUAL_SIZE
        if size < least:
            raise ConfigError(
                f"vocab_size of bpe must be at least {least}, all bytes and the special tokens, "
                f"got {size}"
            )
        library = _imported("byte-pair")
        trainer = library.trainers.BpeTrainer(
            vocab_size=size,
            min_frequency=min_count,
            special_tokens=list(SPECIALS),
            initial_alphabet=sorted(library.pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        )
        learned = _trained(_byte_level(library, library.models.BPE(), lower), texts, trainer)
        return cls(
            tokens=_in_order(learned["vocab"]),
            lower=lower,
            merges=tuple(" ".join(pair) for pair in learned["merges"]),
        )

    @cached_property
    def _library(self) -> Any:
        library = _imported("byte-pair")
        pairs = [tuple(merge.split(" ")) for merge in self.merges]
        vocabulary = {name: token for token, name in enumerate(self.tokens)}
        return _byte_level(library, library.models.BPE(vocab=vocabulary, merges=pairs), self.lower)


@dataclass(frozen=True, kw_only=True)
class WordPieceTokenizer(SubwordTokenizer):
    """WordPiece: a word is its longest known beginning, then the longest part that goes on.

    Args:
        as_bert: texts are cleaned as BERT's are: without control characters, with blanks around
            Chinese ones and, where letters are lowered, without accents.
    """

    kind: ClassVar[str] = "wordpiece"
    card: ClassVar[Card] = Card(
        sentence="Split each word greedily into the longest known parts, from left to right; ## "
        "marks continuations.",
        formula=r"\text{unaffable} \mapsto (\text{un}, \text{\#\#aff}, \text{\#\#able})",
        source="Wu et al., Google's neural machine translation system (2016), section 4.1",
        misprint="The vocabulary is often said to be chosen by n(ab) / (n(a) n(b)); the library "
        "that is used here chooses it by n(ab), as for byte pairs.",
    )

    as_bert: bool = False

    @property
    def is_lossless(self) -> bool:
        """Blanks around marks are lost."""
        return False

    @classmethod
    def fit(
        cls,
        texts: Sequence[str],
        *,
        vocab_size: int | None = None,
        min_count: int = 1,
        lower: bool = False,
    ) -> "WordPieceTokenizer":
        """Join parts until the vocabulary is full, or no pair occurs `min_count` times."""
        library = _imported("WordPiece")
        trainer = library.trainers.WordPieceTrainer(
            vocab_size=vocab_size or USUAL_SIZE,
            min_frequency=min_count,
            # Named here in order, for the trainer would number them as they fall out of a hash.
            special_tokens=[*SPECIALS, *_continuing(texts, lower)],
            continuing_subword_prefix=GOES_ON,
            show_progress=False,
        )
        model = library.models.WordPiece()  # only the vocabulary that it learns is kept
        learned = _trained(_word_piece(library, model, lower), texts, trainer)
        return cls(tokens=_in_order(learned["vocab"]), lower=lower)

    @cached_property
    def _library(self) -> Any:
        library = _imported("WordPiece")
        vocabulary = {name: token for token, name in enumerate(self.tokens)}
        model = library.models.WordPiece(vocab=vocabulary, unk_token=SPECIALS[1])
        tokenizer = _word_piece(library, model, self.lower)
        if self.as_bert:
            tokenizer.normalizer = library.normalizers.BertNormalizer(lowercase=self.lower)
        return tokenizer


def _imported(kind: str) -> Any:
    try:
        import tokenizers  # noqa: PLC0415 - optional
    except ImportError:
        raise DataError(
            f"{kind} tokens need the package tokenizers: pip install 'netwright[text]'"
        ) from None
    return tokenizers


def _byte_level(library: Any, model: Any, lower: bool) -> Any:
    tokenizer = library.Tokenizer(model)
    tokenizer.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = library.decoders.ByteLevel()
    if lower:
        tokenizer.normalizer = library.normalizers.Lowercase()
    return tokenizer


def _word_piece(library: Any, model: Any, lower: bool) -> Any:
    tokenizer = library.Tokenizer(model)
    tokenizer.pre_tokenizer = library.pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = library.decoders.WordPiece(prefix=GOES_ON, cleanup=False)
    if lower:
        tokenizer.normalizer = library.normalizers.Lowercase()
    return tokenizer


def _continuing(texts: Sequence[str], lower: bool) -> list[str]:
    """Every character that may go on a word, as a part; marks and blanks stand alone."""
    characters = set().union(*(text.lower() if lower else text for text in texts))
    stand_alone = {
        one for one in characters if one.isspace() or unicodedata.category(one)[0] == "P"
    }
    return sorted(GOES_ON + one for one in characters - stand_alone)


def _trained(tokenizer: Any, texts: Sequence[str], trainer: Any) -> dict[str, Any]:
    """The model that training gives, as plain text."""
    tokenizer.train_from_iterator(_with_words_that_end(texts), trainer)
    model: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    return model


def _with_words_that_end(texts: Sequence[str]) -> Iterator[str]:
    """The texts, cut within words that are longer than any; others stay whole."""
    for text in texts:
        yield from ENDLESS_WORD.split(text) if ENDLESS_WORD.search(text) else [text]


def _in_order(vocabulary: dict[str, int]) -> tuple[str, ...]:
    return tuple(sorted(vocabulary, key=vocabulary.__getitem__))
