"""Noise on labels: a share of them is another class, so the model learns not to be too sure.

With probability eps a label becomes one of the C - 1 others, each as likely. The best prediction
for the right class is then 1 - eps. (Where the new class is drawn among all C, the right one may
come again, and it is 1 - eps (C - 1) / C.)

Shapes: B batch, C classes.
Source: Xie et al., "DisturbLabel: Regularizing CNN on the Loss Layer" (2016).
"""

import torch

from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.train.callback import Callback
from netwright.train.noise import stream_on
from netwright.train.state import TrainState


class LabelNoise(Callback):
    """Replaces labels by other classes, drawn anew each time; accuracy is of the true ones.

    Args:
        share: eps, the probability of another class.
        spec: the data's: one class of several.
        seed: the run's seed.
    """

    only_changes_batch = True

    def __init__(self, share: float, spec: DataSpec, *, seed: int) -> None:
        if spec.target != "class":
            raise ConfigError(f"label_noise is for classes, the target is {spec.target}")
        self.share, self.num_classes, self.seed = share, spec.num_outputs, seed

    def on_batch_start(self, state: TrainState) -> None:
        """Put a batch with noisy labels in place of the clean one."""
        batch = state.batch
        if batch is None:
            return
        place = (state.epoch, state.position, state.ranks.rank)
        random = stream_on(state.device, self.seed, "label-noise", *place)
        labels = batch.targets  # (B,)
        size, device = labels.shape, labels.device
        is_replaced = torch.rand(size, generator=random, device=device) < self.share
        away = torch.randint(1, self.num_classes, size, generator=random, device=device)
        others = (labels + away) % self.num_classes
        state.batch = batch._replace(targets=torch.where(is_replaced, others, labels))
