r"""A corpus in pieces, each of which becomes one token file, and a piece in blocks that fit memory.

Which bytes are which piece follows from the sizes of the files alone: it is the same for any number
of processes, and on going on. A text is cut behind the end of a line; best behind one that stands
between two letters, where no tokenizer joins what is before with what is behind:

    ... of a line\n|The next line ...

Small texts are joined, in their order, until a piece is full: there are about as many token files
as the size of the corpus asks for, however many texts it has. Packed files (.gz) cannot be entered
in the middle: each is in one piece.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

from netwright.core.errors import ConfigError, DataError
from netwright.core.files.regular_file import open_regular
from netwright.core.limits import FILES
from netwright.data.files.file_content import PIECE, Allowance
from netwright.data.text.text_files import has_ending, named_parts, telling_of

BLOCK = 2**20  # bytes of text that are encoded at a time
LOOK = 2**16  # bytes in which a place to cut is looked for
NEUTRAL = re.compile(rb"(?<=\S)\r?\n(?=\S)")
LINE_END = re.compile(rb"\n")
CHARACTER = re.compile(rb"[\x00-\x7f\xc0-\xff]")  # a byte with which a character of UTF-8 begins


class TextRange(NamedTuple):
    """Some of a text, or all of it.

    Args:
        file: of the text.
        begin: the first byte.
        end: the byte behind the last; 0: all of a packed file.
        is_ended: the text is followed by another one, from which <eos> divides it.
    """

    file: Path
    begin: int
    end: int
    is_ended: bool

    @property
    def size(self) -> int:
        """Bytes to be read."""
        return self.end - self.begin or self.file.stat().st_size

    def blocks(self) -> Iterator[str]:
        """Its text, some of it at a time."""
        with telling_of(self.file), open_regular(self.file) as file:
            for place, block in enumerate(cut_blocks(self._bytes(file))):
                begins = not place and not self.begin
                try:
                    text = block.decode("utf-8-sig" if begins else "utf-8")
                except UnicodeDecodeError as error:
                    raise DataError(
                        f"{self.file} is not UTF-8: {error.reason}; convert it first"
                    ) from None
                yield text.replace("\r\n", "\n")

    def _bytes(self, file: BinaryIO) -> Iterator[bytes]:
        if not self.end:
            yield from _Unlimited().unpack_pieces(self.file, file)
            return
        file.seek(self.begin)
        rest = self.end - self.begin
        while rest > 0 and (content := file.read(min(rest, PIECE))):
            rest -= len(content)
            yield content


class TextPiece(NamedTuple):
    """What becomes one token file.

    Args:
        part: train, val or test.
        name: of the token file.
        ranges: of one or several texts, one after the other.
    """

    part: str
    name: str
    ranges: tuple[TextRange, ...]

    @property
    def size(self) -> int:
        """Bytes to be read."""
        return sum(one.size for one in self.ranges)

    def blocks(self) -> Iterator[str]:
        """Its text, some of it at a time."""
        return chain.from_iterable(one.blocks() for one in self.ranges)


class _Unlimited(Allowance):
    """What is unpacked is not held: there may be any amount of it, at the usual ratio."""

    def take(self, path: Path, size: int) -> None:
        """Nothing is counted."""


def cut_blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Bytes as blocks of about one size, cut behind lines; within a long one, at a character."""
    held = b""
    for piece in pieces:
        held += piece
        while len(held) >= BLOCK + LOOK:
            end = place_to_cut(held[BLOCK - 1 : BLOCK + LOOK]) + BLOCK - 1
            yield held[:end]
            held = held[end:]
    if held:
        yield held


def place_to_cut(content: bytes) -> int:
    """How many of these bytes stand before the best cut; at least one."""
    for pattern in (NEUTRAL, LINE_END):
        found = pattern.search(content)
        if found and found.end() < len(content):
            return found.end()
    found = CHARACTER.search(content, 1)
    return found.start() if found else len(content)


def plan_pieces(
    files: Sequence[Path], root: Path, *, val_size: float, test_size: float, piece_size: int
) -> list[TextPiece]:
    """The pieces of all files; parts are told by the names of files, else cut by position.

    Args:
        files: of the texts.
        root: the folder that they were found in.
        val_size: fraction of the bytes, before the test part.
        test_size: fraction of the bytes, at the end.
        piece_size: bytes of a piece.
    """
    if val_size + test_size >= 1:
        raise ConfigError(f"val_size + test_size must be less than 1, got {val_size} + {test_size}")
    named = named_parts(files, root)
    if named:
        stretches = {
            part: [TextRange(file, 0, file.stat().st_size, len(its) > 1) for file in its]
            for part, its in named.items()
        }
    else:
        stretches = {"train": [], "val": [], "test": []}
        for part, stretch in _by_position(files, val_size, test_size):
            stretches[part].append(stretch)
    if not stretches["train"]:
        raise DataError(f"{root} has no text to train on: give more, or a smaller val_size")
    pieces = [
        TextPiece(part, f"{part}-{number:05}.bin", ranges)
        for part, its in stretches.items()
        for number, ranges in enumerate(_joined(its, piece_size))
    ]
    if len(pieces) > FILES.value:
        raise ConfigError(
            f"{root} would become {len(pieces):,} token files, at most {FILES.value:,.0f} are "
            f"allowed: give a larger --shard-mb"
        )
    return pieces


def _joined(stretches: Iterable[TextRange], size: int) -> Iterator[tuple[TextRange, ...]]:
    """Stretches in their order, cut where they are longer than a piece, joined while they fit."""
    held: list[TextRange] = []
    filled = 0
    for one in chain.from_iterable(_divided(stretch, size) for stretch in stretches):
        if held and filled + one.size > size:
            yield tuple(held)
            held, filled = [], 0
        held.append(one)
        filled += one.size
    if held:
        yield tuple(held)


def _divided(stretch: TextRange, size: int) -> Iterator[TextRange]:
    """A stretch in ranges of about a size; a packed file is one."""
    file, begin, end, is_ended = stretch
    if _is_packed(file):
        yield TextRange(file, 0, 0, is_ended)
        return
    # A place near the end is looked for further than the end: it may be found behind it.
    cuts = (min(cut, end) for cut in _cuts(file, range(begin + size, end, size)))
    for first, last in pairwise([begin, *cuts, end]):
        if first < last:
            yield TextRange(file, first, last, is_ended and last == end)


def _by_position(
    files: Sequence[Path], val_size: float, test_size: float
) -> Iterator[tuple[str, TextRange]]:
    """The files one after the other, cut twice; a packed file goes where its middle is."""
    sizes = [file.stat().st_size for file in files]
    total, offset = sum(sizes), 0
    bounds = {
        "train": int(total * (1 - val_size - test_size)),
        "val": int(total * (1 - test_size)),
        "test": total,
    }
    for file, size in zip(files, sizes, strict=True):
        if _is_packed(file):
            middle = offset + size // 2
            part = next(part for part, bound in bounds.items() if middle <= bound)
            yield part, TextRange(file, 0, size, len(files) > 1)
        else:
            begin = 0
            for part, bound in bounds.items():
                if bound >= offset + size:
                    end = size
                else:
                    end = max(begin, *_cuts(file, [bound - offset]), 0) if bound > offset else 0
                if end > begin:
                    yield part, TextRange(file, begin, end, len(files) > 1 and end == size)
                    begin = end
        offset += size


def _cuts(file: Path, places: Iterable[int]) -> list[int]:
    """The places at or after these at which the file may be cut."""
    if _is_packed(file):
        return []
    found = []
    with telling_of(file), open_regular(file) as opened:
        for place in places:
            opened.seek(max(0, place - 1))
            found.append(max(0, place - 1) + place_to_cut(opened.read(LOOK)))
    return found


def _is_packed(file: Path) -> bool:
    return has_ending(file, [".gz"])
