r"""Noise on weights: every batch sees weights that are a little off, so flat minima are preferred.

    loss at w + eps        eps ~ N(0, sigma^2), anew for each batch

The update is made from the weights without noise. For a linear model with squared error the
expected loss is the loss + sigma^2 ||x||^2; to first order an output f gives sigma^2 ||df/dw||^2.
Noise on inputs, w (x + eps), is something else, though it is often printed under this name.

Source: Graves, "Practical Variational Inference for Neural Networks" (2011); An, "The Effects of
Adding Noise During Backpropagation Training on a Generalization Performance" (1996).
"""

import torch
from torch import Tensor

from netwright.train.callback import Callback
from netwright.train.noise import noise_like, stream_on
from netwright.train.state import TrainState


class WeightNoise(Callback):
    """Disturbs the learned weights for one batch's forward and backward pass.

    Ranks that hold the same weights draw the same noise. Then the very weights of before are put
    back, not the noise subtracted: nothing is rounded. That happens before the update, after a
    batch without one, and when an error ends the batch.

    Args:
        deviation: sigma.
        seed: the run's seed.
    """

    def __init__(self, deviation: float, *, seed: int) -> None:
        self.deviation, self.seed = deviation, seed
        self.learned: list[Tensor] = []
        self.before: list[Tensor] = []
        self.is_noisy = False

    def on_epoch_start(self, state: TrainState) -> None:
        """Collect the weights that learn now, and room for their copy."""
        learned = (weight for weight in state.learned_weights() if weight.requires_grad)
        self.learned = state.engine.own(learned)
        self.before = [torch.empty_like(weight) for weight in self.learned]
        self.is_noisy = False

    @torch.no_grad()
    def on_batch_start(self, state: TrainState) -> None:
        """Add the noise of this batch."""
        torch._foreach_copy_(self.before, self.learned)
        self.is_noisy = True
        place = (state.epoch, state.position, *state.engine.streams)
        random = stream_on(self.learned[0].device, self.seed, "weight-noise", *place)
        noise = noise_like(self.learned, random)
        torch._foreach_add_(self.learned, noise, alpha=self.deviation)

    def on_before_update(self, state: TrainState) -> None:
        """The gradients are there: the update starts from the weights as they were."""
        self._put_back()

    def on_batch_end(self, state: TrainState) -> None:
        """A batch whose update is still to come leaves no noise either."""
        self._put_back()

    def on_abort(self, state: TrainState) -> None:
        """An error in the middle of a batch leaves no noise either."""
        self._put_back()

    @torch.no_grad()
    def _put_back(self) -> None:
        if self.is_noisy:
            torch._foreach_copy_(self.learned, self.before)
            self.is_noisy = False
