"""Noise on inputs: no example is seen twice, so none can be learned by heart.

With a linear model and squared error it is ridge regression: the expected loss gains
sigma^2 ||w||^2.

Source: Bishop, "Training with Noise is Equivalent to Tikhonov Regularization" (1995).
"""

from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.train.callback import Callback
from netwright.train.noise import noise_like, stream_on
from netwright.train.state import TrainState


class InputNoise(Callback):
    """Adds normal noise to the inputs of every batch, as encoded: features are standardised.

    Args:
        deviation: of the noise.
        spec: the data's: features or images.
        seed: the run's seed.
    """

    only_changes_batch = True

    def __init__(self, deviation: float, spec: DataSpec, *, seed: int) -> None:
        if spec.inputs not in {"features", "image"}:
            raise ConfigError(f"input_noise is for features and images, inputs are {spec.inputs}")
        if spec.feature_levels:
            raise ConfigError(
                "input_noise is for numbers, some inputs are places of embedded categories: remove "
                "train.input_noise or data.categories=embedded"
            )
        self.deviation, self.seed = deviation, seed

    def on_batch_start(self, state: TrainState) -> None:
        """Put a noisy batch in place of the clean one."""
        batch = state.batch
        if batch is None:
            return
        place = (state.epoch, state.position, state.ranks.rank)
        random = stream_on(state.device, self.seed, "input-noise", *place)
        (noise,) = noise_like([batch.inputs], random)
        state.batch = batch._replace(inputs=batch.inputs + self.deviation * noise)
