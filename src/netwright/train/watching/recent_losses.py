"""The losses of the updates since the last row by step, kept on the device until one is written.

    mean loss = sum over updates, their batches and ranks of share x loss / updates

where the shares of an update's batches, on all ranks, add up to 1.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from netwright.core.devices import sent
from netwright.core.trees import map_tensors

MOST_HELD = 64  # batches; more are added up: what is held is copied and saved batch by batch


class RecentLosses:
    """A sum that costs nothing a step: losses are noted, and added up a few at a time.

    What is held back is part of the state, as in `RunningMetrics`: a run that goes on adds up the
    same numbers in the same order.

    Args:
        device: where losses live.
    """

    def __init__(self, device: torch.device) -> None:
        self.total = torch.zeros((), device=device)
        self.held: list[tuple[Tensor, float]] = []
        self.updates = 0
        self.waiting = 0  # the newest of those held, whose update is still to come

    def add(self, loss: Tensor, share: float) -> None:
        """Note the loss of a batch, and its part of what the update's mean loss is over."""
        self.held.append((loss, share))
        self.waiting += 1

    def close(self) -> None:
        """The update is made."""
        self.updates += 1
        self.waiting = 0
        if len(self.held) >= MOST_HELD:
            self.total, self.held = self.sum(), []

    def drop(self) -> None:
        """The update is left out, and its losses with it."""
        del self.held[len(self.held) - self.waiting :]
        self.waiting = 0

    def sum(self) -> Tensor:
        """Over the updates that are made: on the device, nothing waits for it."""
        made = self.held[: len(self.held) - self.waiting]
        if not made:
            return self.total
        losses, shares = zip(*made, strict=True)
        values = torch.stack(losses).float()
        if any(share != 1.0 for share in shares):
            values = values * sent(torch.tensor(shares), values.device)
        return self.total + values.sum()

    def begin(self) -> None:
        """Forget the updates that are made: a row is written."""
        self.held = self.held[len(self.held) - self.waiting :]
        self.total, self.updates = torch.zeros_like(self.total), 0

    def state_dict(self) -> dict[str, Any]:
        """The sum, and what is held back."""
        return {
            "total": self.total,
            "held": list(self.held),
            "updates": self.updates,
            "waiting": self.waiting,
        }

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        device = self.total.device
        self.total = values["total"].to(device)
        self.held = map_tensors(lambda tensor: tensor.to(device), values["held"])
        self.updates, self.waiting = values["updates"], values["waiting"]

    def load_states(self, states: Sequence[dict[str, Any]]) -> None:
        """Take back what several ranks noted, as one; each saw all updates, none is waiting."""
        self.load_state_dict(states[0])
        for values in states[1:]:
            other = RecentLosses(self.total.device)
            other.load_state_dict(values)
            self.total = self.total + other.sum()
