"""A run's moment kept in memory, to go back to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from netwright.core.trees import map_tensors
from netwright.train.callback import Callback
from netwright.train.state import TrainState

# Time is not turned back, and what is passed over stays so: it is why there is a way back.
GOING_ON = ("elapsed", "passed_over")


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Copies of everything that moves, taken between two updates.

    Args:
        state: of the run.
        callbacks: the states of those that were watched, in order.
    """

    state: dict[str, Any]
    callbacks: list[dict[str, Any]]

    @classmethod
    def of(cls, state: TrainState, callbacks: Sequence[Callback]) -> "Snapshot":
        """The present moment."""
        parts = state.state_dict().items()
        return cls(
            state={name: _copy(part) for name, part in parts if name not in GOING_ON},
            callbacks=[_copy(call.state_dict()) for call in callbacks],
        )

    def restore(self, state: TrainState, callbacks: Sequence[Callback]) -> None:
        """Bring the state back to this moment; the snapshot stays good."""
        state.load_state_dict(_copy(self.state))
        state.take_up()
        for call, values in zip(callbacks, self.callbacks, strict=True):
            call.load_state_dict(_copy(values))


def _copy(tree: Any) -> Any:
    return map_tensors(lambda tensor: tensor.detach().clone(), tree)
