"""Many image files at once: decoded in a few threads, in the order they were given.

Pillow lets other threads run while it decodes. A file that cannot be decoded leaves its sentence
instead of its pixels, so that all bad files of a folder are known together.

Shapes: N images, C channels, I rows, J columns.
"""

import hashlib
import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.limits import UNPACKED
from netwright.core.terminal.console import Bar
from netwright.data.images.decoding import (
    ImageForm,
    ImageHeader,
    decode_file,
    read_header,
    refusing,
)

FREE = 2**30  # bytes of pixels for which no ratio is looked at
TOGETHER = 8  # files that a thread takes at a time
MOST_THREADS = 8  # more wait for each other: what is small is read by Python more than by pillow

T = TypeVar("T")


def read_headers(files: Sequence[Path]) -> list[ImageHeader | DataError]:
    """The header of each file, or why there is none."""
    return for_each(files, lambda place: read_header(files[place]), "looking at images")


def read_pixels(files: Sequence[Path], form: ImageForm) -> tuple[Tensor, dict[int, DataError]]:
    """All images as bytes (N, C, I, J), and what is wrong with those that stayed black."""
    size = len(files) * math.prod(form.shape)
    if size > most_kept(files):
        raise DataError(
            f"{len(files)} images take {size / 1e9:.3g} GB when decoded, far more than their "
            f"files, "
            f"{UNPACKED.way_out}"
        )
    pixels = torch.zeros((len(files), *form.shape), dtype=torch.uint8)

    def decode(place: int) -> None:
        pixels[place] = decode_file(files[place], form)

    ends = for_each(files, decode, "decoding images")
    return pixels, {place: end for place, end in enumerate(ends) if isinstance(end, DataError)}


def most_kept(files: Sequence[Path]) -> float:
    """The bytes that images may come to together: what files of their size honestly hold."""
    sizes = 0
    for file in files:
        with suppress(OSError, ValueError):  # a bad file is told when it is decoded
            sizes += os.stat(file).st_size
    return max(FREE, UNPACKED.value * sizes)


def read_digests(
    files: Sequence[Path], form: ImageForm
) -> tuple[list[bytes], dict[int, DataError]]:
    """The sha256 of each good file, and what is wrong with the others.

    Every image is decoded as in `read_pixels`, so that the same files are bad; no pixel is kept.
    """

    def digest(place: int) -> bytes:
        decode_file(files[place], form)
        with refusing(files[place]), open(files[place], "rb") as file:
            return hashlib.file_digest(file, "sha256").digest()

    ends = for_each(files, digest, "checking images")
    bad = {place: end for place, end in enumerate(ends) if isinstance(end, DataError)}
    return [end for end in ends if isinstance(end, bytes)], bad


def for_each(
    files: Sequence[Path], work: Callable[[int], T], text: str = "reading images"
) -> list[T | DataError]:
    """What the work gives for the place of each file, in order; a refusal stands in its place."""

    def stretch(start: int) -> list[T | DataError]:
        places = range(start, min(start + TOGETHER, len(files)))
        return [_attempt(work, place) for place in places]

    found: list[T | DataError] = []
    bar = Bar(len(files), text=text)
    try:
        with ThreadPoolExecutor(min(MOST_THREADS, torch.get_num_threads())) as pool:
            for part in pool.map(stretch, range(0, len(files), TOGETHER)):
                found += part
                bar.move(len(found), text)
    finally:
        bar.close()
    return found


def _attempt(work: Callable[[int], T], place: int) -> T | DataError:
    try:
        return work(place)
    except DataError as refusal:
        return refusal
