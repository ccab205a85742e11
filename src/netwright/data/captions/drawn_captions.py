"""Drawn images and their captions: one or two coloured shapes, and where the second one lies.

    a red square
    a blue cross left of a green ring
    a green square above a red ring

What a caption says is to be read off the whole image: which shapes there are, their colours, and
how they lie to each other. The one on the left is named first, or the upper one where they overlap
in their columns.

All images differ from each other, so that none that is held out is in the training rows; the few
hundred images of one shape are soon used up, and most others have two.

Shapes: N images of I = J pixels, P pixels a side of a shape.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.config import Doc, Size
from netwright.core.errors import ConfigError
from netwright.core.limits import CONTENT
from netwright.data.captions.caption_encoder import PALETTE, CaptionEncoder
from netwright.data.dataset import Data, check_data
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

Stamp = tuple[int, int, str, str]  # row, column, colour and shape of what is drawn


@dataclass(frozen=True, kw_only=True)
class CaptionsConfig(SyntheticConfig):
    """How many images are drawn, and how large."""

    n: Annotated[Size, Doc("total number of images, including those held out")] = 10_000
    side: Annotated[int, Interval(ge=7, le=32), Doc("height and width of an image, in pixels")] = 8

    def __post_init__(self) -> None:
        """Refuse more images than there are, or than data may hold, before they are drawn."""
        super().__post_init__()
        numbers = self.side**2 + 2 * LONGEST  # read, told and said
        CONTENT.check(f"n={self.n} images", 8e-9 * self.n * numbers, "takes")
        if self.n > (most := count_images(self.side)):
            raise ConfigError(
                f"n must be at most {most}, the number of different images with side "
                f"{self.side}, got {self.n}: lower n, or raise side"
            )


def count_images(side: int) -> int:
    """How many different images of this side there are.

    With k = I - P + 1 places along an axis, 7 k - 12 of their k^2 pairs are at most P = 3 apart.
    """
    places, looks = side - EDGE + 1, len(BITMAPS) * len(COLOURS)
    apart = places**4 - (7 * places - 12) ** 2  # ordered pairs of places
    return looks * places**2 + looks**2 * apart // 2


def draw_captioned(config: CaptionsConfig, random: torch.Generator) -> tuple[list[str], list[str]]:
    """Different images as letters, row by row, and their captions."""
    scenes: dict[tuple[Stamp, ...], None] = {}  # in the order in which they were drawn
    while len(scenes) < config.n:  # those that are there already are drawn again
        scenes.update(dict.fromkeys(_draw_scenes(config, random)))
    chosen = list(scenes)[: config.n]
    return [_paint(scene, config.side) for scene in chosen], [_describe(scene) for scene in chosen]


def load_captions(config: CaptionsConfig) -> Data:
    """The images of this seed with their captions."""
    images, captions = draw_captioned(config, stream(config, "captions"))
    parts = hold_out(
        config.n, val_size=config.val_size, test_size=config.test_size, seed=config.split_seed
    )
    encoder = CaptionEncoder(
        source=CharTokenizer.fit(["".join(PALETTE)]),
        target=WordTokenizer.fit([captions[row] for row in parts[0].tolist()]),
        source_length=config.side**2,
        target_length=LONGEST,
        columns=("image", "caption"),
        side=config.side,
    )
    whole = encoder.split((images, captions))
    train, val, test = (whole.take(rows) for rows in parts)
    data = Data(
        name="captions",
        spec=encoder.spec,
        train=train,
        val=val if len(val) else None,
        test=test if len(test) else None,
        preprocessor=encoder,
    )
    check_data(data)
    return data


def _draw_scenes(config: CaptionsConfig, random: torch.Generator) -> Iterator[tuple[Stamp, ...]]:
    """What is in each of N images, by row and column; the same may come more than once."""
    counts = torch.randint(1, 3, (config.n,), generator=random)
    kinds = torch.randint(len(BITMAPS), (config.n, 2), generator=random).tolist()
    colours = torch.randint(len(COLOURS), (config.n, 2), generator=random).tolist()
    places = _places(config.n, config.side, random)
    alone = torch.randint(config.side - EDGE + 1, (config.n, 2), generator=random)
    # One shape may lie where there is no room for a second one beside it.
    places[:, 0] = torch.where(counts[:, None] == 1, alone, places[:, 0])
    drawn = zip(counts.tolist(), kinds, colours, places.tolist(), strict=True)
    for count, kind, colour, place in drawn:
        stamps = [
            (*place[which], list(COLOURS)[colour[which]], list(BITMAPS)[kind[which]])
            for which in range(count)
        ]
        yield tuple(sorted(stamps))


def _places(count: int, side: int, random: torch.Generator) -> Tensor:
    """Row and column of two shapes that do not touch (N, 2, 2)."""
    places = torch.zeros(count, 2, 2, dtype=torch.int64)
    left = torch.arange(count)
    while len(left):  # those that touch are drawn again
        drawn = torch.randint(side - EDGE + 1, (len(left), 2, 2), generator=random)
        places[left] = drawn
        left = left[(drawn[:, 0] - drawn[:, 1]).abs().amax(dim=1) <= EDGE]
    return places


def _paint(scene: tuple[Stamp, ...], side: int) -> str:
    """The letters of an image; a shape's place is its upper left corner."""
    grid = [[GROUND] * side for _ in range(side)]
    for top, left, colour, shape in scene:
        for row, dots in enumerate(BITMAPS[shape].split()):
            for column, dot in enumerate(dots):
                if dot == "#":
                    grid[top + row][left + column] = COLOURS[colour]
    return "".join("".join(row) for row in grid)


def _describe(scene: tuple[Stamp, ...]) -> str:
    """Of two shapes the left one first; the upper one where their columns overlap."""
    by_columns = abs(scene[0][1] - scene[-1][1]) >= EDGE
    ordered = sorted(scene, key=lambda stamp: stamp[1 if by_columns else 0])
    relation = "left of" if by_columns else "above"
    return f" {relation} ".join(f"a {colour} {shape}" for *_, colour, shape in ordered)


SOURCE = Source(
    config=CaptionsConfig,
    load=load_captions,
    sentence="images of one or two coloured shapes, to be described in words",
    origin="drawn by formula",
    licence=LICENCE,
    inputs=("pairs",),
)
