"""What is measured while training by a step of one's own: its losses, as means over a pass."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from netwright.core.errors import RunError
from netwright.core.trees import count_rows, map_tensors
from netwright.data.loading.loader import Batch
from netwright.train.ranks import ALONE, Ranks

TOTAL = "loss"


class RunningLosses:
    """Sums over the examples of a pass, in the place of `RunningMetrics`.

    Args:
        device: where losses live.
    """

    def __init__(self, device: torch.device) -> None:
        self.kind = torch.float32 if device.type == "mps" else torch.float64
        self.device = device
        self.begin()

    def begin(self) -> None:
        """Forget everything: a new pass."""
        self.rows = 0
        self.sums: dict[str, Tensor] = {}
        self.counts: dict[str, int] = {}

    def add(self, output: Mapping[str, Tensor], batch: Batch, loss: Tensor) -> None:
        """Count the losses of a batch by name, and their sum; nothing waits for the device."""
        rows = count_rows(batch.inputs)
        self.rows += rows
        for name, value in {TOTAL: loss, **output}.items():
            before = self.sums.get(name, 0.0)
            self.sums[name] = before + value.to(self.kind) * rows
            self.counts[name] = self.counts.get(name, 0) + rows

    def values(self, ranks: Ranks = ALONE) -> dict[str, float]:
        """The means over what all ranks counted."""
        if not self.rows:
            raise RunError("there is nothing to measure: every batch of the epoch was skipped")
        found = {}
        for name, total in self.sums.items():
            own = torch.stack([total.cpu().double(), torch.tensor(float(self.counts[name]))])
            whole, count = ranks.sum(own, "the sum of losses").tolist()
            found[name] = whole / count
        return found

    def state_dict(self) -> dict[str, Any]:
        """The sums."""
        return {"rows": self.rows, "sums": dict(self.sums), "counts": dict(self.counts)}

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        self.rows, self.counts = values["rows"], dict(values["counts"])
        self.sums = map_tensors(lambda tensor: tensor.to(self.device), dict(values["sums"]))

    def load_states(self, states: Sequence[dict[str, Any]]) -> None:
        """Take back what several ranks counted, as one."""
        self.load_state_dict(states[0])
        for values in states[1:]:
            self.rows += values["rows"]
            for name, total in values["sums"].items():
                self.sums[name] = self.sums[name] + total.to(self.device)
                self.counts[name] += values["counts"][name]
