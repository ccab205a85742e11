r"""Attention rollout: what the answer of a vision transformer can have taken from each patch.

    R_0 = I,    R_l = 1/2 (A_l + I) R_{l-1},    A_l the mean over the heads of layer l

Half of what a place holds after a layer came by the shortcut from the place itself, half by
attention. Row i of R_L says how much of place i comes from each patch of the image; where the
answer is read from the class token its row counts, else the mean of all. It follows attention
alone: what the feed-forward networks and the values do to what is carried, it does not see.

Shapes: B images, H heads, T tokens, P patches in I' rows and J' columns.
Source: Abnar and Zuidema, "Quantifying Attention Flow in Transformers" (2020), section 3.1; as a
picture Dosovitskiy et al. (2020), arXiv 2010.11929, figure 6.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from netwright.core.checks import check_finite, check_shape
from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import white_to_blue
from netwright.inspection.drawing.pictures import Pixels, pixels_of
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import check_names, percent, short_name

if TYPE_CHECKING:
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

MOST_IMAGES = 6
SIDE, GAP = 1.15, 0.06  # inches of a picture, and the room between two as a share of one
WORDS, NAMES = 0.3, 0.7  # room for the words above and on the left, as shares of a picture


@dataclass(frozen=True, kw_only=True)
class LookedAt:
    """One image, and where the answer looks in it.

    Args:
        words: what was said of it.
        image: as it is.
        shares: of each patch (I', J'), together 1.
    """

    words: str
    image: Pixels
    shares: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, kw_only=True)
class AttentionRollout(View):
    """A column an image.

    Args:
        images: a few.
        by_token: the answer is read from a class token, else from the mean of all patches.
    """

    title: ClassVar[str] = "Attention rollout"

    images: tuple[LookedAt, ...]
    by_token: bool

    @property
    def size(self) -> tuple[float, float]:
        """Two rows of pictures."""
        return (SIDE * (NAMES + len(self.images)), SIDE * (WORDS + 2 * self._height))

    @property
    def caption(self) -> str:
        """How to read it, and how sharply the first image is looked at."""
        shares = np.array(self.images[0].shares)
        whose = "the class token" if self.by_token else "the mean of all patches"
        return (
            f"Above the images, below where {whose} looks, through all layers: the darker a patch, "
            "the more of the answer can come from it, white is none. In the first image the "
            f"strongest of {shares.size} patches has {percent(float(shares.max()))}; spread evenly "
            f"each would have {percent(1 / shares.size)}."
        )

    def draw(self, figure: "Figure") -> None:
        """One set of axes holds all pictures: a set for each would take ten times as long."""
        axes, height = figure.subplots(), self._height
        most = max(float(np.max(one.shares)) for one in self.images)
        for column, one in enumerate(self.images):
            rows: tuple[tuple[Any, str | Colormap, float], ...] = (
                (np.array(one.image, dtype=np.uint8), "gray", 255),
                (np.array(one.shares), white_to_blue(), most),
            )
            for row, (grid, colours, largest) in enumerate(rows):
                axes.imshow(
                    grid,
                    extent=(column, column + 1 - GAP, (row + 1) * height - GAP, row * height),
                    cmap=colours,
                    vmin=0,
                    vmax=largest,
                    interpolation="none",
                )
            axes.text(column + 0.5, -0.05, one.words, ha="center", va="bottom", fontsize=8)
        for row, words in enumerate(("image", "looked at")):
            axes.text(-0.08, (row + 0.5) * height, words, ha="right", va="center", fontsize=8.5)
        axes.set(xlim=(-NAMES, len(self.images)), ylim=(2 * height, -WORDS), aspect="equal")
        axes.set_axis_off()

    @property
    def _height(self) -> float:
        tall, wide = np.shape(self.images[0].image)[:2]
        return tall / wide


def roll_out(layers: Sequence[Tensor]) -> Tensor:
    """How much of each token comes from each, of the weights (B, H, T, T) of all layers: (B, T, T).

    Every row is a distribution.
    """
    if not layers:
        raise DataError("there is no attention to roll out")
    itself = torch.eye(layers[0].shape[-1], dtype=torch.float64, device=layers[0].device)
    rolled = itself.expand(len(layers[0]), -1, -1)
    for weights in layers:
        check_shape("the attention", weights, len(rolled), "H", len(itself), len(itself))
        check_finite("the attention", weights)
        rolled = (weights.double().mean(dim=1) + itself) / 2 @ rolled
    return rolled


def measure_attention_rollout(
    layers: Sequence[Tensor],
    images: Tensor,
    words: Sequence[str],
    side: int,
) -> AttentionRollout:
    """Where the answer looks in each of a few images.

    Args:
        layers: weights (B, H, T, T) of each layer; T is P, or P + 1 with a class token before.
        images: (B, channels, I, J), in the units that they came in.
        words: what was said of each, B.
        side: pixels of a patch along each side; those at the right and below may lack some.
    """
    rolled = roll_out(layers)
    rows, columns = (-(-pixels // side) for pixels in images.shape[2:])
    extra = rolled.shape[1] - rows * columns
    if extra not in (0, 1):
        raise DataError(f"{rolled.shape[1]} tokens are not {rows} x {columns} patches")
    check_names("words", words, len(images))
    asked = rolled[:, 0, 1:] if extra else rolled.mean(dim=1)
    shares = (asked / asked.sum(dim=1, keepdim=True)).view(-1, rows, columns).cpu()
    return AttentionRollout(
        images=tuple(
            _looked_at(image, share, word)
            for image, share, word in zip(images[:MOST_IMAGES], shares, words, strict=False)
        ),
        by_token=bool(extra),
    )


def _looked_at(image: Tensor, shares: Tensor, words: str) -> LookedAt:
    shown = image if len(image) in (1, 3) else image.mean(dim=0, keepdim=True)
    return LookedAt(
        words=short_name(words, 16),
        image=pixels_of(shown),
        shares=tuple(tuple(row) for row in shares.tolist()),
    )
