"""Drawn images and their captions: one or two coloured shapes, and where the second one lies.

    a red square
    a blue cross left of a green ring
    a green square above a red ring

What a caption says is to be read off the whole image: which shapes there are, their colours, and
how they lie to each other. The one on the left is named first, or the upper one where they overlap
in their columns.

Shapes: N images of I = J pixels, P pixels a side of a shape.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.config import Doc, Size
from netwright.data.captions.caption_encoder import PALETTE, CaptionEncoder
from netwright.data.dataset import Data
from netwright.data.source import Source
from netwright.data.split import hold_out
from netwright.data.synthetic.base import LICENCE, SyntheticConfig, stream
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.word_tokenizer import WordTokenizer

BITMAPS = {"square": "### ### ###", "cross": ".#. ### .#.", "ring": "### #.# ###"}
EDGE = 3  # P
COLOURS = {"red": "r", "green": "g", "blue": "b"}
GROUND = next(iter(PALETTE))
LONGEST = len("a red square left of a blue cross".split()) + 1  # words, with the end


@dataclass(frozen=True, kw_only=True)
class CaptionsConfig(SyntheticConfig):
    """How many images are drawn, and how large."""

    n: Annotated[Size, Doc("total number of images, including those held out")] = 10_000
    side: Annotated[int, Interval(ge=7, le=32), Doc("height and width of an image, in pixels")] = 8


def draw_captioned(config: CaptionsConfig, random: torch.Generator) -> tuple[list[str], list[str]]:
    """Images as letters, row by row, and their captions."""
    counts = torch.randint(1, 3, (config.n,), generator=random).tolist()
    kinds = torch.randint(len(BITMAPS), (config.n, 2), generator=random).tolist()
    colours = torch.randint(len(COLOURS), (config.n, 2), generator=random).tolist()
    places = _places(config.n, config.side, random).tolist()
    images, captions = [], []
    for count, kind, colour, place in zip(counts, kinds, colours, places, strict=True):
        grid = [[GROUND] * config.side for _ in range(config.side)]
        names = []
        for which in range(count):
            shape, shade = list(BITMAPS)[kind[which]], list(COLOURS)[colour[which]]
            _stamp(grid, place[which], BITMAPS[shape], COLOURS[shade])
            names.append(f"a {shade} {shape}")
        images.append("".join("".join(row) for row in grid))
        captions.append(names[0] if count == 1 else _related(names, place))
    return images, captions


def load_captions(config: CaptionsConfig) -> Data:
    """The images of this seed with their captions."""
    images, captions = draw_captioned(config, stream(config, "captions"))
    encoder = CaptionEncoder(
        source=CharTokenizer.fit(["".join(PALETTE)]),
        target=WordTokenizer.fit(captions),
        source_length=config.side**2,
        target_length=LONGEST,
        columns=("image", "caption"),
        side=config.side,
    )
    parts = hold_out(
        config.n, val_size=config.val_size, test_size=config.test_size, seed=config.split_seed
    )
    whole = encoder.split((images, captions))
    train, val, test = (whole.take(rows) for rows in parts)
    return Data(
        name="captions",
        spec=encoder.spec,
        train=train,
        val=val if len(val) else None,
        test=test if len(test) else None,
        preprocessor=encoder,
    )


def _places(count: int, side: int, random: torch.Generator) -> Tensor:
    """Row and column of two shapes that do not touch (N, 2, 2)."""
    places = torch.zeros(count, 2, 2, dtype=torch.int64)
    left = torch.arange(count)
    while len(left):  # those that touch are drawn again
        drawn = torch.randint(side - EDGE + 1, (len(left), 2, 2), generator=random)
        places[left] = drawn
        left = left[(drawn[:, 0] - drawn[:, 1]).abs().amax(dim=1) <= EDGE]
    return places


def _stamp(grid: list[list[str]], place: list[int], bitmap: str, letter: str) -> None:
    """Draw a shape whose upper left corner is at (row, column)."""
    top, left = place
    for row, dots in enumerate(bitmap.split()):
        for column, dot in enumerate(dots):
            if dot == "#":
                grid[top + row][left + column] = letter


def _related(names: list[str], places: list[list[int]]) -> str:
    """Two shapes, the left one first; the upper one where their columns overlap."""
    axis, relation = 1, "left of"
    if abs(places[0][1] - places[1][1]) < EDGE:
        axis, relation = 0, "above"
    first = 0 if places[0][axis] < places[1][axis] else 1
    return f"{names[first]} {relation} {names[1 - first]}"


SOURCE = Source(
    config=CaptionsConfig,
    load=load_captions,
    sentence="images of one or two coloured shapes, to be described in words",
    origin="drawn by formula",
    licence=LICENCE,
    inputs=("pairs",),
)
