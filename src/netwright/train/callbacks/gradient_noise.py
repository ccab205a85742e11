r"""Noise on gradients: each update follows the gradient and a little chance.

    w <- w - eta (g + eps)        eps ~ N(0, sigma^2)

Around the minimum of h w^2 / 2 the weight does not come to rest: SGD leaves it the variance
eta sigma^2 / (2 h - eta h^2).

A row of an embedding that stands for padding, or for a category that training did not have, is out
of learning: it has no gradient and gets no noise.

Source: Welling and Teh, "Bayesian Learning via Stochastic Gradient Langevin Dynamics" (2011);
Neelakantan et al., "Adding Gradient Noise Improves Learning for Very Deep Networks" (2015).
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from netwright.train.callback import Callback
from netwright.train.noise import noise_like, stream_on
from netwright.train.state import TrainState


class GradientNoise(Callback):
    """Adds normal noise to the gradients of an update, the same on every rank that holds them.

    Args:
        deviation: sigma.
        seed: the run's seed.
    """

    def __init__(self, deviation: float, *, seed: int) -> None:
        self.deviation, self.seed = deviation, seed

    @torch.no_grad()
    def on_before_update(self, state: TrainState) -> None:
        """Add the noise of this update."""
        grads = state.whole_gradients()
        place = (state.step, *state.engine.streams)
        random = stream_on(grads[0].device, self.seed, "gradient-noise", *place)
        resting = [(row, row.clone()) for row in _resting_rows(state)]
        torch._foreach_add_(grads, noise_like(grads, random), alpha=self.deviation)
        for row, before in resting:
            row.copy_(before)


def _resting_rows(state: TrainState) -> Iterator[Tensor]:
    """The gradients of rows that rest (width,), of those that this rank holds."""
    for part in state.model.modules():
        if not isinstance(part, nn.Embedding) or part.padding_idx is None:
            continue
        held = state.engine.rows(part.num_embeddings)
        if part.weight.grad is not None and held.start <= part.padding_idx < held.stop:
            (grad,) = state.engine.own([part.weight.grad])
            yield grad[part.padding_idx - held.start]
