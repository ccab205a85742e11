"""CutMix: a rectangle of every example is replaced by the same rectangle of another one.

    x'_ij = x_q,ij  in u <= i < u + h, v <= j < v + w,  x_p,ij elsewhere
    y' = l y_p + (1 - l) y_q,    l = 1 - h w / (I J),    h = [sqrt(1 - m) I],  w = [sqrt(1 - m) J]

with m = max(b, 1 - b), b ~ Beta(s, s), and [.] the nearest whole number. The paper lets rectangles
reach beyond the border, and cuts off what lies there; here each lies within the image, anywhere
with equal chance, so that sizes do not depend on places. Both count the pixels that were replaced.

Shapes: B images (B, C, I, J).
Source: Yun, Han, Oh, Chun, Choe and Yoo, "CutMix: regularization strategy to train strong
classifiers with localizable features" (2019), section 3.1.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.data.augment.mixing import Mixed, Mixing, draw_partners


@dataclass(frozen=True, kw_only=True)
class CutMix(Mixing):
    """Pastes a rectangle of one example into another."""

    def mixed(
        self,
        images: Tensor,
        strength: float,
        generator: torch.Generator,
        out: Tensor | None = None,
    ) -> Mixed:
        """See `Mixing.mixed`."""
        partners = draw_partners(images, strength, generator)
        sides = (1 - partners.shares).sqrt()
        down, tall = _span(sides, images.shape[2], generator)
        right, wide = _span(sides, images.shape[3], generator)
        is_pasted = (down[:, :, None] & right[:, None])[:, None]  # (B, 1, I, J)
        others = torch.index_select(images, 0, partners.places, out=out)
        pasted = torch.where(is_pasted, others, images, out=out)
        shares = 1 - tall * wide / images[0, 0].numel()
        return Mixed(pasted, partners._replace(shares=shares))


def _span(shares: Tensor, side: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Which pixels of a side lie within (B, side), for a share of the side each, and how many."""
    count = (side * shares).round()
    chance = torch.rand(shares.shape, dtype=shares.dtype, device=shares.device, generator=generator)
    first = (chance * (side - count + 1)).floor().clamp_max_(side - count)[:, None]
    places = torch.arange(side, device=shares.device)
    return (first <= places) & (places < first + count[:, None]), count


CUTMIX = CutMix(
    strength=1.0,
    least=0.01,
    card=Card(
        sentence="A rectangle of every example is replaced by that of another of the batch, and "
        "its target by as much: a class is to be seen in any part of an image.",
        formula=r"x' = M x_p + (1 - M) x_q, \quad y' = l y_p + (1 - l) y_q, "
        r"\qquad l = \frac{1}{IJ} \sum_{ij} M_{ij} \approx \max(b, 1 - b), "
        r"\quad b \sim \mathrm{Beta}(s, s)",
        symbols={
            "x": "an image (C, I, J)",
            "y": "its class as probabilities (C,)",
            "M": "0 in a rectangle somewhere in the image, 1 elsewhere (I, J)",
            "l": "the part of the pixels that are the example's own: the larger one",
            "p, q": "the example and its partner in the batch",
            "s": "the strength: below 1 most rectangles are small",
        },
        source="Yun, Han, Oh, Chun, Choe and Yoo (2019), arXiv 1905.04899",
    ),
)
