"""What rows a split holds, as two short texts: one of the rows, one of the rows in their order.

Two splits with equal `rows` but different `order` hold the same examples in another order. The
numbers behind them find every change that happens, not one that is made to deceive.

Shapes: N examples, n of them at a time, W words of eight bytes in one of them.
"""

import hashlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.trees import Tree, tensors_of
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Split
from netwright.data.loading.stored import StoredSplit
from netwright.data.loading.token_windows import TokenSplit
from netwright.data.loading.windows import WindowSplit
from netwright.data.pixels import PixelSplit

CHUNK = 2**18  # bytes at a time, or a row: they stay in the processor's cache
LARGE = 2**24  # bytes that are worth a thread
OF_LOADER = "first batches"  # the rows are those that a loader gives first
ODD = 0x5851F42D4C957F2D  # a multiplier that spreads bits well (Knuth's MMIX generator)
WORD, HALF = 8, np.uint64(32)  # bytes of a word, and bits of half of one
Words = NDArray[np.uint64]


def fingerprint(split: Split) -> dict[str, str | int]:
    """Its number of rows, and hashes of its rows without and with their order.

    Of rows on disk that a setting would hold in memory, as other numbers, its name is told, too; of
    files of which a cache holds a few at once, how many bytes: the order of the epochs follows.
    """
    inputs, reading = _kept(split)
    first, *others = tensors_of(inputs)
    numbers = _row_numbers(first, 0)
    for place, part in enumerate(others, start=3):  # 1 and 2 are of targets and weights
        numbers += _row_numbers(part, place)
    if not isinstance(split, WindowSplit):  # its targets are its inputs, one place later
        numbers += _row_numbers(split.targets, 1)
    if split.weights is not None:
        numbers += _row_numbers(split.weights, 2)
    numbers = _mixed(numbers)
    rows = f"{int(numbers.sum()) % 2**64:016x}"
    order = hashlib.sha256(numbers.numpy().data).hexdigest()
    setting = split.stored.in_memory_by if isinstance(split, StoredSplit) else ""
    return {
        "count": split.total,
        "rows": f"{rows} {reading}".rstrip(),
        "order": order[:16],
        **({"in_memory_by": setting} if setting else {}),
        **({"held": held} if (held := _held(split)) else {}),
    }


def _held(split: Split) -> int:
    """The bytes of files that are at hand at once; 0: all of them."""
    pieces = None
    if isinstance(split, StoredSplit):
        pieces = split.stored.pieces
    if isinstance(split, TokenSplit):
        pieces = split.windows.pieces
    return 0 if pieces is None else pieces.held


def _kept(split: Split) -> tuple[Tree, str]:
    """What is kept of the inputs (N, ...), and in short how inputs are made from it."""
    if isinstance(split, StoredSplit):  # too many to be read for this: places stand for them
        return split.rows, split.stored.fingerprint()[:16]
    if isinstance(split, PixelSplit):
        return split.pixels, hashlib.sha256(repr(split.scaling).encode()).hexdigest()[:16]
    if isinstance(split, WindowSplit):  # each token once, however often windows hold it
        return split.stream[:, None], f"windows of {split.window} every {split.stride}"
    if isinstance(split, TokenSplit):  # a few windows, and the sums of all files
        return split.inputs, split.windows.fingerprint()[:16]
    return split.inputs, OF_LOADER if isinstance(split, SourceSplit) else ""


def _row_numbers(values: Tensor, part: int) -> Tensor:
    """A number (N,) for each row of values, such that other bytes give another number.

    A sum of the words themselves would not notice two that change places: they are weighed by odd
    numbers. Before that each is folded, for what is in its upper half alone would be shifted out.
    """
    a_row = values.element_size() * values[0].numel()
    at_once = max(1, CHUNK // max(1, a_row))
    random = torch.Generator().manual_seed(part)
    factors = torch.randint(-(2**62), 2**62, (-(-a_row // WORD),), generator=random) | 1
    weights, sums = factors.numpy().view(np.uint64), np.empty(len(values), np.uint64)

    def weigh(rows: slice) -> None:
        _weigh(_chunks(values.detach()[rows], at_once), weights, sums[rows])

    parts = _parts(values)
    with ThreadPoolExecutor(len(parts)) as pool:  # numpy lets go of Python's lock
        for _ in pool.map(weigh, parts):
            pass
    return _mixed(torch.from_numpy(sums.view(np.int64)) + part + 1)


def _parts(values: Tensor) -> list[slice]:
    """The rows of each thread; of what lies on another device there is one."""
    most = torch.get_num_threads() if values.device.type == "cpu" else 1
    count = max(1, min(most, values.nbytes // LARGE, len(values)))
    bounds = [len(values) * place // count for place in range(count + 1)]
    return [slice(first, last) for first, last in pairwise(bounds)]


def _weigh(chunks: Iterable[Words], factors: Words, sums: Words) -> None:
    """Leave the folded words (n, W) of each row times their factors (W,) in the sums (N,).

    They are added up modulo 2**64, by numpy, whose whole numbers without a sign are shifted and
    multiplied in half as many passes.
    """
    done, folded = 0, np.empty((0, len(factors)), np.uint64)
    for words in chunks:
        folded = np.empty_like(words) if len(words) > len(folded) else folded
        room, into = folded[: len(words)], sums[done : done + len(words)]
        np.right_shift(words, HALF, out=room)
        np.bitwise_xor(room, words, out=room)
        np.einsum("nw,w->n", room, factors, out=into)
        done += len(words)


def _chunks(values: Tensor, at_once: int) -> Iterator[Words]:
    """The words (n, W) of so many rows at a time; a copy, where there must be one, is as small."""
    if values.device.type == "cpu" and values.is_contiguous() and not values[0].nbytes % WORD:
        words = _words(values)  # a view
        yield from (words[first : first + at_once] for first in range(0, len(words), at_once))
    else:
        yield from (_words(rows.cpu()) for rows in torch.split(values, at_once))


def _words(rows: Tensor) -> Words:
    """The bytes of each row as whole numbers of eight bytes (n, W); zeros fill the last one."""
    flat = rows.contiguous().reshape(len(rows), -1).view(torch.uint8)
    if flat.shape[1] % WORD:
        flat = torch.nn.functional.pad(flat, (0, -flat.shape[1] % WORD))
    return flat.numpy().view(np.uint64)


def _mixed(numbers: Tensor) -> Tensor:
    """Each bit of a number reaches many others."""
    return _folded(_folded(numbers, 31) * ODD, 29)


def _folded(numbers: Tensor, by: int) -> Tensor:
    """The upper bits added to the lower ones; no two numbers become the same."""
    upper = numbers >> by
    upper &= 2 ** (64 - by) - 1  # torch shifts the sign in
    return upper.bitwise_xor_(numbers)
