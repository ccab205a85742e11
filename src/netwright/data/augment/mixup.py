"""Mixup: every example is blended with another one.

    x' = l x_p + (1 - l) x_q        y' = l y_p + (1 - l) y_q        l = max(b, 1 - b)

Source: Zhang, Cisse, Dauphin and Lopez-Paz, "mixup: beyond empirical risk minimization" (2018).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.data.augment.mixing import Mixed, Mixing, draw_partners


@dataclass(frozen=True, kw_only=True)
class Mixup(Mixing):
    """Blends examples, pixel by pixel."""

    def mixed(
        self,
        images: Tensor,
        strength: float,
        generator: torch.Generator,
        out: Tensor | None = None,
    ) -> Mixed:
        """See `Mixing.mixed`."""
        partners = draw_partners(images, strength, generator)
        return Mixed(partners.mix(images, out), partners)


MIXUP = Mixup(
    strength=0.2,
    least=0.01,
    card=Card(
        sentence="Every example and its target are blended with another of the batch, so that the "
        "network behaves linearly between classes.",
        formula=r"x' = l x_p + (1 - l) x_q, \quad y' = l y_p + (1 - l) y_q "
        r"\qquad l = \max(b, 1 - b), \quad b \sim \mathrm{Beta}(s, s)",
        symbols={
            "x": "an image (C, I, J)",
            "y": "its class as probabilities (C,)",
            "l": "the share of the example itself, drawn for each by itself: the larger part",
            "p, q": "the example and its partner in the batch",
            "s": "the strength: below 1 most examples stay nearly as they were",
        },
        source="Zhang, Cisse, Dauphin and Lopez-Paz (2018), arXiv 1710.09412",
    ),
)
