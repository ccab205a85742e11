"""The loss and the headline measure of a pass so far, measured a few batches at a time.

Starting a small kernel costs more than running it: outputs are held back until it pays to measure
them together. Large outputs are measured at once, so little memory is held.

Shapes: B batch, C outputs.
"""

from typing import Any

import torch
from torch import Tensor

from netwright.core.outputs import Output, logits_of
from netwright.core.trees import map_tensors
from netwright.data.loader import Batch
from netwright.train.tasks.task import Task

MOST_HELD = 2**16  # numbers


class RunningMeasures:
    """Sums over the examples of a pass.

    What is held back is part of the state: a run that is saved and goes on adds up the same numbers
    in the same order as one that was never stopped.

    Args:
        task: what is measured.
        device: where outputs live.
    """

    def __init__(self, task: Task, device: torch.device) -> None:
        self.task = task
        self.loss = torch.zeros((), device=device)
        self.headline = torch.zeros(task.headline_shape, device=device)
        self.rows = 0
        self.held: list[tuple[Tensor, Tensor, Tensor | None, Tensor]] = []
        self.held_numbers = 0

    def add(self, output: Tensor | Output, batch: Batch, loss: Tensor) -> None:
        """Count a batch (B, C) and its mean loss; nothing waits for the device."""
        logits = logits_of(output).detach()
        self.held.append((logits, batch.targets, batch.weights, loss))
        self.rows += len(logits)
        self.held_numbers += logits.numel()
        if self.held_numbers >= MOST_HELD:
            self.settle()

    def settle(self) -> None:
        """Measure what is held back."""
        if not self.held:
            return
        logits, targets, weights, losses = zip(*self.held, strict=True)
        sizes = torch.tensor([float(len(part)) for part in logits])
        known = [part for part in weights if part is not None]
        self.loss += torch.stack(losses).float() @ sizes.to(self.loss.device)
        self.headline += self.task.headline_sum(
            torch.cat(logits), torch.cat(targets), torch.cat(known) if known else None
        )
        self.held, self.held_numbers = [], 0

    def values(self) -> dict[str, float]:
        """The loss and the headline measure, as means over the examples."""
        self.settle()
        headline = self.task.headline_value(self.headline / self.rows)
        return {"loss": float(self.loss) / self.rows, self.task.headline: headline}

    def begin(self) -> None:
        """Forget everything: a new pass."""
        self.loss.zero_()
        self.headline.zero_()
        self.rows, self.held, self.held_numbers = 0, [], 0

    def state_dict(self) -> dict[str, Any]:
        """Sums, and what is held back."""
        return {
            "loss": self.loss,
            "headline": self.headline,
            "rows": self.rows,
            "held": list(self.held),
        }

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        device = self.loss.device
        self.loss.copy_(values["loss"])
        self.headline.copy_(values["headline"])
        self.rows = values["rows"]
        self.held = map_tensors(lambda tensor: tensor.to(device), values["held"])
        self.held_numbers = sum(parts[0].numel() for parts in self.held)
