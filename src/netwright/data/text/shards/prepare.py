"""Make token files of a corpus that may be larger than memory, by several processes, resumably.

    plan      which bytes become which token file, see `pieces.py`
    fit       a tokenizer, on a sample of the training text, unless one is given
    encode    piece by piece; each token file is whole or absent, and noted once it is there
    index     last: where it is, the folder is complete

Who begins again with the same corpus and settings goes on behind the files that are there.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from netwright.core.errors import RunError
from netwright.core.files.folder_lock import FolderLock
from netwright.core.files.inside import has_file
from netwright.core.files.storage import (
    make_folder,
    remove_leftovers,
    write_json,
    write_pieces,
)
from netwright.data.loading.token_files import DTYPES, TokenFile
from netwright.data.text.catalog import Tokens, fit_tokenizer
from netwright.data.text.encoder import share
from netwright.data.text.shards.index import (
    PARTS,
    VOCABULARY,
    ShardIndex,
    dtype_for,
    read_vocabulary,
    write_index,
)
from netwright.data.text.shards.notes import Encoded, Notes
from netwright.data.text.shards.pieces import BLOCK, TextPiece, plan_pieces
from netwright.data.text.text_files import PLAIN, find_files, telling_of
from netwright.data.text.tokenizer import EOS, UNK, Tokenizer

FITTED_ON = 64  # blocks of text that a tokenizer is fitted on

Tell = Callable[[int, int], None]  # bytes read, tokens written so far


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """What to make of which corpus.

    Args:
        corpus: a text file, or a folder of them.
        out: the folder of token files.
        tokens: how a tokenizer is fitted; or a tokenizer.
        val_size: fraction of the text held out for validation, where file names do not say.
        test_size: fraction held out for testing.
        piece_size: bytes of text of one token file.
        workers: processes that encode; 1 encodes here; None: one for each core.
    """

    corpus: Path
    out: Path
    tokens: Tokens | Tokenizer
    val_size: float = 0.1
    test_size: float = 0.0
    piece_size: int = 2**26
    workers: int | None = None

    @cached_property
    def pieces(self) -> list[TextPiece]:
        """What becomes which token file."""
        root = self.corpus.expanduser()
        files = [file for file in find_files(root, PLAIN) if _has_content(file)]
        return plan_pieces(
            files,
            root,
            val_size=self.val_size,
            test_size=self.test_size,
            piece_size=max(BLOCK, self.piece_size),
        )


@dataclass(frozen=True)
class Prepared:
    """What was made.

    Args:
        index: of all files.
        tokenizer: of their tokens.
        unknown: tokens that are not in the vocabulary.
        kept: files that were there before.
    """

    index: ShardIndex
    tokenizer: Tokenizer
    unknown: int
    kept: int

    def tokens(self, part: str) -> int:
        """How many tokens a part has."""
        return sum(file.tokens for file in self.index.parts.get(part, ()))


def prepare_shards(what: Preparation, tell: Tell) -> Prepared:
    """Write the token files of a corpus; a folder that was begun with other settings is refused."""
    pieces = what.pieces
    make_folder(what.out)
    with FolderLock(what.out):
        remove_leftovers(what.out)
        return _prepared(what, pieces, tell)


def plan_size(what: Preparation) -> int:
    """The bytes of all texts, packed ones as they are."""
    return sum(piece.size for piece in what.pieces)


def summary(made: Prepared) -> list[str]:
    """What was made, in a few lines."""
    files = sum(map(len, made.index.parts.values()))
    counted = ", ".join(f"{made.tokens(part):,} {part}" for part in made.index.parts)
    total = sum(map(made.tokens, made.index.parts))
    lines = [
        f"{files:,} token files of {made.index.dtype}: {counted} tokens",
        f"vocabulary ({made.tokenizer.kind}): {made.tokenizer.size:,} tokens; unknown: "
        f"{share(made.unknown, total)}",
    ]
    return [*lines, f"{made.kept:,} of the files were there before"] if made.kept else lines


def _prepared(what: Preparation, pieces: Sequence[TextPiece], tell: Tell) -> Prepared:
    notes = Notes(what.out, _conditions(what, pieces))
    done, kept = notes.done, len(notes.done)
    tokenizer = _tokenizer(what, pieces)
    read = sum(one.size for one in done.values())
    made = sum(one.file.tokens for one in done.values())
    tell(read, made)
    missing = [piece for piece in pieces if piece.name not in done]
    dtype = dtype_for(tokenizer.size)
    for one in _encoded(missing, what, tokenizer, dtype):
        notes.add(one)
        read, made = read + one.size, made + one.file.tokens
        tell(read, made)
    parts = {
        part: tuple(done[piece.name].file for piece in pieces if piece.part == part)
        for part in PARTS
    }
    index = ShardIndex(dtype, tokenizer.size, {part: its for part, its in parts.items() if its})
    write_index(what.out, index, tokenizer)
    return Prepared(index, tokenizer, sum(one.unknown for one in done.values()), kept)


def encode_piece(folder: Path, piece: TextPiece, tokenizer: Tokenizer, dtype: str) -> Encoded:
    """Write the token file of a piece, a block at a time."""
    total, counted = hashlib.sha256(), {"tokens": 0, "unknown": 0}

    def content() -> Iterator[bytes]:
        for tokens in _tokens(piece, tokenizer, DTYPES[dtype]):
            counted["tokens"] += len(tokens)
            counted["unknown"] += int((tokens == UNK).sum())
            total.update(tokens.data)
            yield tokens.tobytes()

    write_pieces(folder / piece.name, content())
    file = TokenFile(piece.name, counted["tokens"], total.hexdigest())
    return Encoded(file, piece.size, counted["unknown"])


def _tokens(piece: TextPiece, tokenizer: Tokenizer, dtype: Any) -> Iterator[Any]:
    for one in piece.ranges:
        for text in one.blocks():
            yield np.fromiter(tokenizer.each_token(text), dtype)
        if one.is_ended:
            yield np.array([EOS], dtype)


def _encoded(
    pieces: Sequence[TextPiece], what: Preparation, tokenizer: Tokenizer, dtype: str
) -> Iterator[Encoded]:
    """The token files as they are finished, in any order."""
    workers = min(what.workers or len(os.sched_getaffinity(0)), len(pieces))
    if workers <= 1:
        for piece in pieces:
            yield encode_piece(what.out, piece, tokenizer, dtype)
        return
    # Not forked: the library that splits words has threads, which a fork would not copy.
    with ExitStack() as held:
        pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
        held.callback(pool.shutdown, cancel_futures=True)
        futures = [pool.submit(encode_piece, what.out, one, tokenizer, dtype) for one in pieces]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool:
            raise RunError(
                "a process that encodes was killed, perhaps for lack of memory: give fewer "
                "--workers; what is done is kept"
            ) from None


def _conditions(what: Preparation, pieces: Sequence[TextPiece]) -> dict[str, Any]:
    """What the token files follow from, as plain values."""
    files = {one.file: one.file.stat() for piece in pieces for one in piece.ranges}
    numbers = {file: number for number, file in enumerate(files)}
    tokens = what.tokens
    if isinstance(tokens, Tokenizer):
        content = repr(tokens).encode()
        told: Any = f"{tokens.kind} {hashlib.sha256(content).hexdigest()}"
    else:
        told = [tokens.tokenizer, tokens.vocab_size, tokens.min_count, tokens.lower]
    return {
        "format": 2,
        "tokens": told,
        "files": [[str(one), at.st_size, at.st_mtime_ns] for one, at in files.items()],
        "pieces": [
            [piece.name, [[numbers[one.file], *one[1:]] for one in piece.ranges]]
            for piece in pieces
        ],
    }


def _tokenizer(what: Preparation, pieces: Sequence[TextPiece]) -> Tokenizer:
    """The one that is given, was fitted before, or is fitted now to a sample of the text."""
    if isinstance(what.tokens, Tokenizer):
        return what.tokens
    if has_file(what.out / VOCABULARY):
        return read_vocabulary(what.out)
    train = [piece for piece in pieces if piece.part == "train"]
    of_each = -(-FITTED_ON // len(train)) * BLOCK
    some = train[:: -(-len(train) // FITTED_ON)]
    texts = [text for piece in some for text in _beginning(piece, of_each)]
    tokenizer = fit_tokenizer(texts, what.tokens, what.corpus.name)
    write_json(what.out / VOCABULARY, tokenizer.to_json())
    return tokenizer


def _beginning(piece: TextPiece, size: int) -> Iterator[str]:
    """Blocks of a piece until they have as many characters; of small texts, a block each."""
    for text in piece.blocks():
        yield text
        size -= len(text)
        if size <= 0:
            return


def _has_content(file: Path) -> bool:
    with telling_of(file):
        return os.path.getsize(file) > 0
