"""Images as sequences of pixels, and what is to be said of them: pairs whose source is an image.

    picture -> I x J pixels of a small palette, row by row -> one letter a pixel -> tokens

An encoder reads the pixels as it reads words, and finds out from the data which are neighbours,
unless it is one of images. So all that translates also captions: models, beams, measures and views.

Shapes: N images, I rows, J columns, S = I J pixels, T tokens of a caption with the end.
Source: Chen et al., "Generative Pretraining from Pixels" (2020), section 3.1, for images as
sequences of colours; Vinyals et al., "Show and Tell" (2015), for captions as translations.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.data.images.decoding import SUFFIXES, ImageForm
from netwright.data.images.listing import files_at
from netwright.data.images.reading import read_pixels
from netwright.data.spec import DataSpec
from netwright.data.tables.raw_table import RawTable
from netwright.data.text.pair_encoder import PairEncoder

PALETTE = {"k": (30, 30, 30), "r": (220, 50, 50), "g": (60, 180, 75), "b": (60, 90, 220)}


def to_letters(pixels: Tensor) -> list[str]:
    """Bytes (N, 3, I, J) -> I J letters each: of every pixel the nearest colour of the palette."""
    colours = torch.tensor(list(PALETTE.values()), dtype=torch.float32)
    flat = pixels.flatten(2).mT.float()  # (N, S, 3)
    nearest = torch.cdist(flat, colours.expand(len(flat), -1, -1)).argmin(dim=2)
    letters = list(PALETTE)
    return ["".join(letters[place] for place in row) for row in nearest.tolist()]


@dataclass(frozen=True, kw_only=True)
class CaptionEncoder(PairEncoder):
    """Encodes images of one size and their captions.

    It takes what a `PairEncoder` takes, with images written as letters; the path of a picture or of
    a folder of them; and `Path`s in a list. Text in a list is never taken for a path, as it may be
    a stranger's.

    Args:
        side: I and J.
    """

    kind: ClassVar[str] = "captions"

    side: int

    @property
    def spec(self) -> DataSpec:
        """What a model is built to fit."""
        return replace(super().spec, source_side=self.side)

    def read(self, source: Any) -> RawTable:
        """Pictures, or letters, as a table of letters."""
        paths = [Path(source)] if isinstance(source, str | os.PathLike) else source
        if isinstance(paths, list | tuple) and paths and all(map(is_picture, paths)):
            return super().read(self._letters([file for path in paths for file in files_at(path)]))
        table = super().read(source)
        self._check_letters(table.column(self.columns[0]))
        return table

    def _letters(self, files: Sequence[Path]) -> list[str]:
        """Pictures as letters, squashed to the side."""
        pixels, bad = read_pixels(files, ImageForm(mode="RGB", height=self.side, width=self.side))
        for refusal in bad.values():
            raise refusal
        return to_letters(pixels)

    def _check_letters(self, texts: Sequence[str]) -> None:
        for row, text in enumerate(texts):
            if len(text) != self.source_length or set(text) - set(PALETTE):
                raise DataError(
                    f"image {row} must be a picture file, or {self.source_length} letters of "
                    f"{', '.join(PALETTE)}, one a pixel, got {text!r:.40}"
                )


def is_picture(source: Any) -> bool:
    """Whether it is the path of a picture or of a folder."""
    return isinstance(source, Path) and (source.suffix.lower() in SUFFIXES or source.is_dir())
