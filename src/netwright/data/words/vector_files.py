"""Files of word vectors, as word2vec, GloVe and gensim write and read them.

    text      "V D", then a word and D numbers a line; GloVe's has no first line
    binary    "V D", then a word, a blank and D float32, little-endian, for each word

Numbers in text have nine digits, which give each float32 back to the bit. A file is a stranger's:
sizes that it claims are compared with what it holds before anything is made for them.

Shapes: V words, D features.
Source: Mikolov's word2vec.c (2013); Pennington et al., "GloVe" (2014).
"""

from pathlib import Path
from typing import Literal

import numpy as np

from netwright.core.errors import ConfigError, DataError
from netwright.core.files.storage import write_bytes
from netwright.data.files.file_content import read_content
from netwright.data.text.text_files import telling_of
from netwright.data.words.word_vectors import Vectors, WordVectors

VectorFormat = Literal["text", "binary", "glove"]


def save_vectors(path: Path, vectors: WordVectors, form: VectorFormat = "text") -> None:
    """Write a new file; one that is there is never overwritten.

    A word with a blank in it cannot be written: no reader could tell where it ends.
    """
    if path.exists() or path.is_symlink():
        raise ConfigError(f"{path} already exists and is not overwritten: give another name")
    for word in vectors.words:
        if not word or word.split() != [word]:
            raise ConfigError(f"{word!r} has a blank in it, which a file of vectors cannot hold")
    head = b"" if form == "glove" else f"{len(vectors.words)} {vectors.vectors.shape[1]}\n".encode()
    if form == "binary":
        rows = vectors.vectors.astype("<f4")
        lines = [
            word.encode() + b" " + row.tobytes() + b"\n"
            for word, row in zip(vectors.words, rows, strict=True)
        ]
    else:
        lines = [
            f"{word} {' '.join(f'{number:.9g}' for number in row)}\n".encode()
            for word, row in zip(vectors.words, vectors.vectors.tolist(), strict=True)
        ]
    write_bytes(path, head + b"".join(lines))


def load_vectors(path: Path) -> WordVectors:
    """The vectors of a file in any of the formats, packed or not; which it is, is seen."""
    with telling_of(path):
        content = read_content(path)
    head = content.partition(b"\n")[0].split()
    has_head = len(head) == 2 and all(part.isdigit() for part in head)
    if not has_head:
        return _from_text(path.name, content, None)
    count, width = (int(part[:12]) for part in head)  # longer numbers are no sizes
    body = content[content.index(b"\n") + 1 :]
    try:
        body.decode()
        is_text = True
    except UnicodeDecodeError:
        is_text = False
    if (is_text and b"\n" in body[:-1]) or (count == 1 and is_text):
        return _from_text(path.name, body, (count, width))
    return _from_binary(path.name, body, count, width)


def _from_text(name: str, content: bytes, claimed: tuple[int, int] | None) -> WordVectors:
    """A word and its numbers a line; the lines must be as many, and as wide, as was claimed."""
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: byte {error.start} is not UTF-8, wanted word vectors") from None
    words: list[str] = []
    rows: list[Vectors] = []
    width = claimed[1] if claimed else 0
    for place, line in enumerate(lines, start=1 + bool(claimed)):
        if not line.strip():
            continue
        word, *numbers = line.rstrip().split(" ")
        width = width or len(numbers)
        if len(numbers) != width or not width:
            raise DataError(
                f"{name}:{place}: wanted a word and {width} numbers, got {len(numbers)}"
            )
        try:
            row = np.array(numbers, dtype=np.float32)
        except ValueError:
            raise DataError(f"{name}:{place}: what follows {word!r:.40} is not numbers") from None
        words.append(word)
        rows.append(row)
    if claimed and claimed[0] != len(words):
        raise DataError(f"{name}: its first line says {claimed[0]} words, it has {len(words)}")
    if not words:
        raise DataError(f"{name}: the file is empty, wanted word vectors")
    return WordVectors(words=tuple(words), vectors=np.stack(rows))


def _from_binary(name: str, body: bytes, count: int, width: int) -> WordVectors:
    """A word, a blank and its float32 for each word."""
    size = 4 * width
    if not width or count * (size + 1) > len(body):
        raise DataError(
            f"{name}: its first line says {count} words of {width} numbers, it holds {len(body)} "
            "bytes: it is truncated or no file of word vectors"
        )
    words: list[str] = []
    vectors, place = np.empty((count, width), dtype=np.float32), 0
    for row in range(count):
        blank = body.find(b" ", place)
        if blank < 0 or blank + 1 + size > len(body):
            raise DataError(f"{name}: truncated after {row} of {count} words")
        words.append(body[place:blank].lstrip(b"\n").decode(errors="replace"))
        vectors[row] = np.frombuffer(body, dtype="<f4", count=width, offset=blank + 1)
        place = blank + 1 + size
    return WordVectors(words=tuple(words), vectors=vectors)
