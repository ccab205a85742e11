"""Watch one measure: keep the best weights, and stop when it no longer gets better.

Source: Prechelt, "Early Stopping - But When?" (1998).
"""

import math
from collections.abc import Mapping
from itertools import takewhile
from types import MappingProxyType
from typing import Any

from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.metrics.catalog import find_metric
from netwright.train.callback import Callback
from netwright.train.own.metrics import OwnMetric
from netwright.train.state import TrainState


class EarlyStopping(Callback):
    """Compares each measurement with the best so far: after epochs, and every `eval_every` steps.

    Args:
        monitor: "val/loss", "val/accuracy" ...
        patience: measurements without improvement after which training stops; None never stops.
        min_delta: an improvement has to be larger than this.
        restore_best: put the best weights back at the end.
        own: the caller's metrics, which know which way is better.
    """

    best: float
    weights: dict[str, Tensor]

    def __init__(
        self,
        monitor: str = "val/loss",
        *,
        patience: int | None = None,
        min_delta: float = 0.0,
        restore_best: bool = True,
        own: Mapping[str, OwnMetric] = MappingProxyType({}),
    ) -> None:
        self.monitor, self.patience = monitor, patience
        self.min_delta, self.restore_best = min_delta, restore_best
        self.sign = 1.0 if is_lower_better(monitor, own) else -1.0
        self._forget()

    def on_fit_start(self, state: TrainState) -> None:
        """Begin anew, or stay stopped where a checkpoint was written when patience was over."""
        if state.samples == 0:
            self._forget()  # what another run left, where one trainer fits several models
        elif self.weights:
            self._stop_if_patience_is_over(state)

    def on_epoch_end(self, state: TrainState) -> None:
        """Take the newest value into account."""
        if not state.history.measures(self.monitor):
            known = ", ".join(state.history.keys())
            raise ConfigError(f"monitor {self.monitor!r} is not measured; there are {known}")
        self._look(state)

    def on_evaluation(self, state: TrainState) -> None:
        """The same between two epochs, where the measure was taken."""
        if state.measured_now(self.monitor) is not None:
            self._look(state)

    def _look(self, state: TrainState) -> None:
        value = self.sign * state.history.latest(self.monitor)
        if value < self.best - self.min_delta or not self.weights:
            self.best, self.best_epoch, self.best_step = value, state.epoch, state.step
            self.weights = {
                name: tensor.detach().clone() for name, tensor in state.model.state_dict().items()
            }
        else:
            self._stop_if_patience_is_over(state)

    def values_by_step(self, state: TrainState) -> dict[int, float]:
        """What was measured after whole passes and on the way, so that lower is better."""
        whole = state.history.rows[: len(state.history) - state.unfinished_rows]
        return {row.step: self.sign * row.value for row in whole if row.key == self.monitor}

    def on_fit_end(self, state: TrainState) -> None:
        """Go back to the best weights."""
        if self.restore_best and self.weights:
            state.model.load_state_dict(self.weights)

    def _forget(self) -> None:
        self.best = math.inf  # of sign * value, so that lower is better
        self.best_epoch = self.best_step = 0
        self.weights = {}

    def _stop_if_patience_is_over(self, state: TrainState) -> None:
        if self.patience is None:
            return
        waited = self._waited(state)
        if waited >= max(1, self.patience):
            unit = "epochs" if waited == state.epoch - self.best_epoch else "measurements"
            state.stop_reason = f"no improvement of {self.monitor} for {self.patience} {unit}"

    def _waited(self, state: TrainState) -> int:
        """Measurements since the best."""
        best = (self.best_epoch, self.best_step)
        rows = (row for row in reversed(state.history.rows) if row.key == self.monitor)
        return sum(1 for _ in takewhile(lambda row: (row.epoch, row.step) != best, rows))

    def state_dict(self) -> dict[str, Any]:
        """The best so far, with its weights."""
        return {
            "best": self.best,
            "best_epoch": self.best_epoch,
            "best_step": self.best_step,
            "weights": self.weights,
        }

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        self.best = values["best"]
        self.best_epoch, self.best_step = values["best_epoch"], values["best_step"]
        self.weights = {name: kept.detach() for name, kept in values["weights"].items()}


def is_lower_better(monitor: str, own: Mapping[str, OwnMetric] = MappingProxyType({})) -> bool:
    """Whether a measure is to fall: losses and errors do, accuracies do not."""
    name = monitor.partition("/")[2]
    if name in own:
        return own[name].is_lower_better
    if name == "loss":
        return True
    return find_metric(name).better == "lower"
