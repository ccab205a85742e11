"""Mixing: every example takes a part of another one, inputs and targets alike.

    x' = mixed(x_p, x_q)        y' = l y_p + (1 - l) y_q        l = max(b, 1 - b)

q runs through the batch in a random order, and each example has its own b ~ Beta(s, s); with a
small s most of them stay nearly what they were. With a share b below one half a pair would be the
pair the other way round with the rest: mixtures have the same distribution with the larger part, by
which each is mostly the example whose class its answer is measured by. A target becomes the
probabilities of two classes. Where examples have weights w, each teaches its class as much as it
counts:

    w' = l w_p + (1 - l) w_q        y' = (l w_p y_p + (1 - l) w_q y_q) / w'

Shapes: B examples, C classes.
Source: Zhang, Cisse, Dauphin and Lopez-Paz, "mixup: beyond empirical risk minimization" (2018).
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.data.augment.augmentation import Augmentation
from netwright.data.loading.loader import Batch


class Partners(NamedTuple):
    """With whom each example is mixed: partner's place in the batch (B,), and own share (B,)."""

    places: Tensor
    shares: Tensor

    def mix(self, values: Tensor, out: Tensor | None = None) -> Tensor:
        """Blend values (B, ...) with those of their partners."""
        shares = self.shares.to(values.dtype).view(-1, *(1 for _ in values.shape[1:]))
        return torch.index_select(values, 0, self.places, out=out).lerp_(values, shares)


def draw_partners(images: Tensor, strength: float, generator: torch.Generator) -> Partners:
    """A random order of the batch, and shares: the larger part by Beta(strength, strength)."""
    count, device = len(images), images.device
    dtype = torch.promote_types(images.dtype, torch.float32)
    pairs = torch.full((count, 2), strength, dtype=dtype, device=device)
    # What torch.distributions.Beta calls; that one takes no generator.
    shares = torch._sample_dirichlet(pairs, generator=generator).amax(dim=1)
    return Partners(torch.randperm(count, generator=generator, device=device), shares)


class Mixed(NamedTuple):
    """Images (B, C, I, J) with a part of their partners in them."""

    images: Tensor
    partners: Partners


@dataclass(frozen=True, kw_only=True)
class Mixing(Augmentation):
    """Mixes examples; the one kind of augmentation that changes targets."""

    @abstractmethod
    def mixed(
        self,
        images: Tensor,
        strength: float,
        generator: torch.Generator,
        out: Tensor | None = None,
    ) -> Mixed:
        """Images with a part of others, and how much of whom is in each."""

    def apply(
        self,
        images: Tensor,
        strength: float,
        generator: torch.Generator,
        out: Tensor | None = None,
    ) -> Tensor:
        """See `Augmentation.apply`; for the targets too, `mix`."""
        return self.mixed(images, strength, generator, out).images

    def mix(
        self,
        batch: Batch,
        strength: float,
        generator: torch.Generator,
        num_classes: int,
        out: Tensor | None = None,
    ) -> Batch:
        """Mix inputs, targets and weights; classes (B,) become probabilities (B, C).

        Where both count nothing the probabilities are 0.
        """
        inputs, partners = self.mixed(batch.inputs, strength, generator, out)
        targets = F.one_hot(batch.targets, num_classes).to(partners.shares.dtype)
        if batch.weights is None:
            return batch._replace(inputs=inputs, targets=partners.mix(targets))
        weights = partners.mix(batch.weights)
        total = weights.clamp_min(torch.finfo(weights.dtype).tiny)
        targets = partners.mix(batch.weights[:, None] * targets) / total[:, None]
        return batch._replace(inputs=inputs, targets=targets, weights=weights)
