r"""L1 by its proximal step: after each update the weights shrink toward 0, and small ones are 0.

    w <- sign(w) max(|w| - eta lambda, 0)

After a step of plain SGD this is proximal gradient descent on loss + lambda sum |w|. Beside
momentum and Adam it is decoupled, as AdamW's weight decay is: the penalty does not pass through
their moments. Subgradient steps, -eta lambda sign(w), jump around 0 and give no exact zeros.

Source: Parikh and Boyd, "Proximal Algorithms" (2014), sections 4.2 and 6.5.2.
"""

from torch import Tensor

from netwright.losses.penalty import Penalized, penalized, soft_threshold
from netwright.train.callback import Callback
from netwright.train.state import TrainState


class ProximalL1(Callback):
    """Soft-thresholds weights after every update by (the rate of that update) times lambda.

    Args:
        strength: lambda.
        penalize: which weights.
    """

    def __init__(self, strength: float, *, penalize: Penalized) -> None:
        self.strength, self.penalize = strength, penalize
        self.groups: list[list[Tensor]] = []
        self.rates: list[float] = []
        self.step = 0

    def on_epoch_start(self, state: TrainState) -> None:
        """Find the weights that learn now, by group of the optimizer, which has its own rate."""
        chosen = {id(weight) for weight in penalized(state.model, self.penalize)}
        self.groups = [
            state.engine.own(weight for weight in group["params"] if id(weight) in chosen)
            for group in state.optimizer.param_groups
        ]

    def on_before_update(self, state: TrainState) -> None:
        """Note the rates: when the update is made, the schedule has moved on."""
        self.step = state.step
        self.rates = [float(group["lr"]) for group in state.optimizer.param_groups]

    def on_step_end(self, state: TrainState) -> None:
        """Shrink; not where float16 overflowed and the weights stayed."""
        if state.step == self.step:
            return
        state.confirm()  # weights that a bad update left alone are not to shrink
        for weights, rate in zip(self.groups, self.rates, strict=True):
            if weights:
                soft_threshold(weights, rate * self.strength)
