"""Text of any length as words to learn vectors of: a file, a folder of files, a published corpus.

The text is read once. Words get a number when they are first seen; when it is known how often each
occurs, rare ones are left out and the others renumbered, the most common first. Both streams of
numbers lie in files without a name, not in memory.

Shapes: L words of the text, N rows of it, T words of a row.
"""

import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated

import numpy as np
from annotated_types import Ge, Interval

from netwright.core.config import Config, Doc, Size
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data
from netwright.data.files.file_content import Allowance
from netwright.data.files.locations import home_folder
from netwright.data.source import Source
from netwright.data.tables.dialect import Encoding
from netwright.data.text.published import training_texts
from netwright.data.text.text_files import PLAIN, PUBLISHED_TEXTS, find_files
from netwright.data.text.tokenizer import EOS, PAD, SPECIALS, most_common
from netwright.data.text.word_tokenizer import Splitting, WordTokenizer
from netwright.data.words.phrases import find_phrases, join_phrases
from netwright.data.words.text_pieces import text_pieces
from netwright.data.words.word_encoder import ROW, WordEncoder
from netwright.data.words.word_stream import Words, WordStream

PATTERNS = {"words": r"\w+(?:['\u2019-]\w+)*", "spaces": r"\S+"}
END = "\n"  # of a text, or of a line where lines are texts
CHUNK = 2**20  # words that are renumbered at a time
MOST_WORDS = 10**7  # different ones: more are no text
JOINT = "_"  # between the words of a phrase
SHOWN = 5  # phrases that are named


@dataclass(frozen=True, kw_only=True)
class WordsConfig(Config):
    """Text to learn words from."""

    path: Annotated[
        str,
        Doc("a .txt or .txt.gz file, a folder of them, or a published corpus such as wikitext-2"),
    ] = ""
    encoding: Encoding = ""
    min_count: Annotated[int, Ge(1), Doc("minimum count of a word; rarer ones are left out")] = 5
    vocab_size: Annotated[Size | None, Doc("maximum vocabulary size; none: all words")] = None
    lower: Annotated[bool, Doc("convert to lower case")] = True
    split_at: Annotated[
        Splitting, Doc("words: letters and digits, without punctuation; spaces: what they separate")
    ] = "words"
    lines: Annotated[bool, Doc("a line is a text: no context reaches over its end")] = False
    phrases: Annotated[
        int,
        Interval(ge=0, le=4),
        Doc("passes that join words often used together: 1: new_york, 2: up to four words"),
    ] = 0


def load_words(config: WordsConfig) -> Data:
    """Read the text once; what cannot be learned from is refused."""
    if not config.path:
        raise ConfigError("path is empty, wanted a .txt file or a folder of them")
    name = Path(config.path).expanduser().resolve().name
    try:
        folder = home_folder() / "words"
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as files:
            seen = files.enter_context(tempfile.TemporaryFile(dir=folder))
            counts, total = _number_words(_pieces(config), config, seen)
            plain = len(counts)
            if not total:
                raise DataError(f"{name}: there are no words in it")
            for _ in range(config.phrases):
                joined = files.enter_context(tempfile.TemporaryFile(dir=folder))
                counts = _join_words(seen, counts, config.min_count, joined)
                seen = joined
            tokens = most_common(counts, config.vocab_size, config.min_count)
            if len(tokens) < len(SPECIALS) + 2:
                raise DataError(
                    f"{name}: {len(tokens) - len(SPECIALS)} words occur min_count="
                    f"{config.min_count} times, wanted at least 2; give a longer text or a lower "
                    "min_count"
                )
            words = _renumbered(seen, counts, tokens, folder)
    except OSError as error:
        raise DataError(f"{name}: its words cannot be stored: {error}") from None
    known, kept = counts.total(), len(tokens) - len(SPECIALS)
    rare = known - int(sum(counts[word] for word in tokens[len(SPECIALS) :]))
    tokenizer = WordTokenizer(tokens=tokens, lower=config.lower, split_at=config.split_at)
    encoder = WordEncoder(tokenizer=tokenizer, length=ROW, encoding=config.encoding)
    return Data(
        name=name,
        spec=encoder.spec,
        train=WordStream(words, ROW),
        preprocessor=encoder,
        notes=(
            f"{total:,} words, {kept:,} different ones are kept",
            f"{rare:,} words are left out as too rare",
            *_note_of_phrases(list(counts)[plain:], counts, tokens, config.phrases),
        ),
    )


def _pieces(config: WordsConfig) -> Iterator[str]:
    """The text in pieces; a line end follows each file or published text."""
    if config.path in PUBLISHED_TEXTS and not Path(config.path).exists():
        for text in training_texts(config.path):
            yield text
            yield END
        return
    allowance = Allowance()
    for file in find_files(Path(config.path).expanduser(), PLAIN):
        yield from text_pieces(file, config.encoding, allowance)
        yield END


def _number_words(
    pieces: Iterator[str], config: WordsConfig, seen: IO[bytes]
) -> tuple[Counter[str], int]:
    """Write each word as its number in the order of the counter; gives it, and words in all."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    numbers[END]  # is the first
    pattern = re.compile(PATTERNS[config.split_at] + ("|\n" if config.lines else ""))
    counts = np.zeros(1, dtype=np.int64)
    for piece in pieces:
        words = [END] if piece == END else pattern.findall(piece.lower() if config.lower else piece)
        places = np.fromiter(map(numbers.__getitem__, words), dtype=np.int32, count=len(words))
        if len(numbers) > MOST_WORDS:
            raise DataError(f"more than {MOST_WORDS:,} different words: {config.path} is no text")
        counts = np.pad(counts, (0, len(numbers) - len(counts)))
        counts += np.bincount(places, minlength=len(counts))
        seen.write(places.tobytes())
    found = Counter(dict(zip(numbers, counts.tolist(), strict=True)))
    found[END] = 0  # it keeps its place, but is no word
    return found, found.total()


def _join_words(
    seen: IO[bytes], counts: Counter[str], least: int, joined: IO[bytes]
) -> Counter[str]:
    """Write the text with pairs of words that belong together as one; gives the new counts."""
    words, size = list(counts), len(counts)
    of_words = np.array(list(counts.values()), dtype=np.int64)
    phrases = find_phrases(_chunks(seen), of_words, least)
    of_all = np.zeros(size + len(phrases), dtype=np.int64)
    for part in join_phrases(_chunks(seen), phrases, size):
        of_all += np.bincount(part, minlength=len(of_all))
        joined.write(part.tobytes())
    of_all[0] = 0  # the end of a text is no word
    names = [f"{words[key // size]}{JOINT}{words[key % size]}" for key in phrases.tolist()]
    found: Counter[str] = Counter()
    for name, count in zip([*words, *names], of_all.tolist(), strict=True):
        while name in found:  # a word of the text already: the phrase gets another name
            name += JOINT  # noqa: PLW2901
        found[name] = count
    return found


def _chunks(seen: IO[bytes]) -> Iterator[Words]:
    """The stream from its beginning, in parts."""
    seen.seek(0)
    while chunk := seen.read(4 * CHUNK):
        yield np.frombuffer(chunk, dtype=np.int32)


def _note_of_phrases(
    joined: list[str], counts: Counter[str], tokens: tuple[str, ...], passes: int
) -> Iterator[str]:
    """How many of the phrases that were joined are tokens, and the most common ones."""
    if passes:
        kept = set(tokens[len(SPECIALS) :])
        phrases = [phrase for phrase in joined if phrase in kept]
        shown = ", ".join(sorted(phrases, key=counts.__getitem__, reverse=True)[:SHOWN])
        yield f"{len(phrases):,} phrase{'s' * (len(phrases) != 1)}: {shown or 'none'}"


def _renumbered(
    seen: IO[bytes], counts: Counter[str], tokens: tuple[str, ...], folder: Path
) -> Words:
    """The stream (L,) of tokens in place of words as they were seen; those unknown are left out."""
    places = {word: token for token, word in enumerate(tokens) if token >= len(SPECIALS)}
    table = np.array([places.get(word, PAD) for word in counts], dtype=np.int32)
    table[0] = EOS
    count = 0
    with tempfile.TemporaryFile(dir=folder) as file:
        for chunk in _chunks(seen):
            known = table[chunk]
            known = known[known != PAD]
            file.write(known.tobytes())
            count += len(known)
        file.write(np.full(-count % ROW, PAD, dtype=np.int32).tobytes())
        file.flush()
        return np.memmap(file, dtype=np.int32, mode="r+")  # outlives the file's name


SOURCE = Source(
    config=WordsConfig,
    load=load_words,
    sentence="your own text, to learn word vectors from: a .txt file or a folder of them",
    origin="your files",
    licence="yours",
    inputs=("tokens",),
)
