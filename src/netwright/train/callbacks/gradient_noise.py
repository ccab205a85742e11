r"""Noise on gradients: each update follows the gradient and a little chance.

    w <- w - eta (g + eps)        eps ~ N(0, sigma^2)

Around the minimum of h w^2 / 2 the weight does not come to rest: SGD leaves it the variance
eta sigma^2 / (2 h - eta h^2).

Source: Welling and Teh, "Bayesian Learning via Stochastic Gradient Langevin Dynamics" (2011);
Neelakantan et al., "Adding Gradient Noise Improves Learning for Very Deep Networks" (2015).
"""

import torch

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
        random = stream_on(state.device, self.seed, "gradient-noise", *place)
        torch._foreach_add_(grads, noise_like(grads, random), alpha=self.deviation)
