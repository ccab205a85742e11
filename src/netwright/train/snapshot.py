"""A run's moment kept in memory, to go back to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from netwright.core.seeding import random_state, set_random_state
from netwright.core.trees import map_tensors
from netwright.train.callback import Callback
from netwright.train.checkpoint import COUNTERS, waiting_gradients
from netwright.train.history import History, Row
from netwright.train.state import TrainState


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Copies of everything that moves, taken between two updates.

    Args:
        counters: epoch, position, step ...
        parts: weights, optimizer, schedule, scaler, sums, weight average, by name.
        gradients: those that wait for their update.
        random: the generators' states.
        history: the rows so far.
        callbacks: the states of those that were watched, in order.
    """

    counters: dict[str, int]
    parts: dict[str, Any]
    gradients: dict[str, Any]
    random: dict[str, Any]
    history: list[Row]
    callbacks: list[dict[str, Any]]

    @classmethod
    def of(cls, state: TrainState, callbacks: Sequence[Callback]) -> "Snapshot":
        """The present moment."""
        return cls(
            counters={name: getattr(state, name) for name in COUNTERS},
            parts={name: _copy(part.state_dict()) for name, part in _moving(state).items()},
            gradients=_copy(waiting_gradients(state)),
            random=_copy(random_state()),
            history=list(state.history.rows),
            callbacks=[_copy(call.state_dict()) for call in callbacks],
        )

    def restore(self, state: TrainState, callbacks: Sequence[Callback]) -> None:
        """Bring the state back to this moment; the snapshot stays good."""
        for name, value in self.counters.items():
            setattr(state, name, value)
        for name, part in _moving(state).items():
            part.load_state_dict(_copy(self.parts[name]))
        for name, parameter in state.model.named_parameters():
            parameter.grad = _copy(self.gradients.get(name))
        set_random_state(self.random)
        state.history = History(list(self.history))
        for call, values in zip(callbacks, self.callbacks, strict=True):
            call.load_state_dict(_copy(values))


def _moving(state: TrainState) -> dict[str, Any]:
    named = {
        "model": state.model,
        "optimizer": state.optimizer,
        "schedule": state.schedule,
        "scaler": state.scaler,
        "running": state.running,
        "recent": state.recent,
        "average": state.average,
    }
    return {name: part for name, part in named.items() if part is not None}


def _copy(tree: Any) -> Any:
    return map_tensors(lambda tensor: tensor.detach().clone(), tree)
