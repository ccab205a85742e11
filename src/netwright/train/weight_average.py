r"""The average of the weights along the way: quieter than any of them, and often better.

    exponential   m_t = (1 - d) sum_i d^(t - i) w_i / (1 - d^t)      recent weights count more
    equal         m_t = (w_1 + ... + w_t) / t                        over the run's last quarter

Both are m <- m + r_t (w_t - m), with r_t = (1 - d) / (1 - d^t) and r_t = 1 / t; r_1 = 1, so
nothing of a start remains. The common form with a constant r = 1 - d begins at w_1 and lets it
count d^(t - 1): after 1000 updates with d = 0.999 that is still 37 %.

Source: Polyak and Juditsky, "Acceleration of Stochastic Approximation by Averaging" (1992);
Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization" (2018).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from netwright.train.carried_state import lasting_tensors
from netwright.train.engines.engine import Engine


class WeightAverage:
    """The mean of all numbers that a model learns or measures: weights and floating buffers.

    Training goes on with the model's own weights. Where the mean is looked at, it is in the model
    for a while and training's weights are kept aside.

    Args:
        model: on its device.
        decay: d of the exponential mean; None: equal.
        start: updates that are left out.
        engine: how the ranks hold the model.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        decay: float | None,
        start: int = 0,
        engine: Engine | None = None,
    ) -> None:
        self.decay, self.start, self.engine = decay, start, engine or Engine()
        self.tensors = {
            name: tensor
            for name, tensor in lasting_tensors(model).items()
            if tensor.is_floating_point() or tensor.is_complex()
        }
        self.mean = {name: tensor.clone() for name, tensor in self.tensors.items()}
        self.aside: dict[str, Tensor] = {}  # training's weights, while the model holds the mean
        self.count = self.step = 0

    def add(self, step: int) -> None:
        """Take in the model's weights after update number `step`; each update counts once."""
        if step <= max(self.start, self.step):  # float16 may overflow: no update was made
            return
        self.count, self.step = self.count + 1, step
        with torch.no_grad():
            own = self.engine.own
            torch._foreach_lerp_(own(self.mean.values()), own(self.tensors.values()), self.rate)

    @property
    def rate(self) -> float:
        """r_t: how much the newest weights count."""
        if self.decay is None:
            return 1 / self.count
        return (1 - self.decay) / (1 - self.decay**self.count)

    def put_in(self) -> None:
        """Let the model hold the mean; while that is empty, the model stays as it is."""
        if self.count and not self.aside:
            self.aside = {name: tensor.clone() for name, tensor in self.tensors.items()}
            _copy(self.mean, self.tensors)

    def take_out(self) -> None:
        """Give the model training's weights again."""
        _copy(self.aside, self.tensors)
        self.aside = {}

    @contextmanager
    def in_model(self) -> Iterator[None]:
        """Let the model hold the mean for a block."""
        self.put_in()
        try:
            yield
        finally:
            self.take_out()

    def state_dict(self) -> dict[str, Any]:
        """The mean, and how much is in it."""
        return {"mean": self.mean, "count": self.count, "step": self.step}

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        _copy(values["mean"], self.mean)
        self.count, self.step = values["count"], values["step"]


def _copy(source: dict[str, Tensor], target: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for name, tensor in source.items():
            target[name].copy_(tensor)
