"""The loss and the headline measure of a pass so far, measured a few batches at a time.

Starting a small kernel costs more than running it: outputs are held back until it pays to measure
them together. Large outputs are measured at once, so little memory is held.

Shapes: B batch, C outputs.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from netwright.core.devices import sent
from netwright.core.errors import RunError
from netwright.core.outputs import Output, logits_of
from netwright.core.trees import map_tensors
from netwright.data.loading.loader import Batch
from netwright.train.ranks import ALONE, Ranks
from netwright.train.tasks.task import Task

MOST_HELD = 2**16  # numbers
MOST_BATCHES = 64  # what is held is copied and saved batch by batch


class RunningMetrics:
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
        self.counted = torch.zeros((), device=device)
        self.rows = 0
        self.held: list[tuple[Tensor, Tensor, Tensor | None, Tensor]] = []
        self.held_numbers = 0

    def add(self, output: Tensor | Output, batch: Batch, loss: Tensor) -> None:
        """Count a batch (B, C) and its mean loss; nothing waits for the device."""
        logits = logits_of(output).detach()
        if self.held and logits.shape[1:] != self.held[-1][0].shape[1:]:
            self.settle()  # texts of another length: they cannot be joined
        self.held.append((logits, self.task.kept(batch.targets), batch.weights, loss))
        self.rows += logits.shape[0]
        self.held_numbers += logits.numel()
        if self.held_numbers >= MOST_HELD or len(self.held) >= MOST_BATCHES:
            self.settle()

    def settle(self) -> None:
        """Measure what is held back."""
        self.loss, self.headline, self.counted = self._settled()
        self.held, self.held_numbers = [], 0

    def _settled(self) -> tuple[Tensor, Tensor, Tensor]:
        """The sums with what is held back; the state stays as it is."""
        if not self.held:
            return self.loss, self.headline, self.counted
        if len(self.held) == 1:
            return self._with_one(*self.held[0])
        logits, targets, weights, losses = zip(*self.held, strict=True)
        sizes = _together([self.task.counted(part) for part in targets], self.loss)
        known = [part for part in weights if part is not None]
        loss = torch.stack(losses).float() @ sizes
        headline = self.task.headline_sum(
            torch.cat(logits), torch.cat(targets), torch.cat(known) if known else None
        )
        # Of a model in float64 the sums are float32 all the same, before and after a resume.
        headline = self.headline + headline.to(self.headline.dtype)
        return self.loss + loss, headline, self.counted + sizes.sum()

    def _with_one(
        self, output: Tensor, targets: Tensor, weights: Tensor | None, loss: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The same sums with one batch: there is nothing to join, and for large ones no room."""
        size = self.task.counted(targets)
        size = size.to(self.loss) if isinstance(size, Tensor) else size
        headline = self.task.headline_sum(output, targets, weights).to(self.headline.dtype)
        return self.loss + loss.float() * size, self.headline + headline, self.counted + size

    def values(self, ranks: Ranks = ALONE) -> dict[str, float]:
        """The loss and the headline measure, as means over what all ranks counted.

        What is held back stays held back: a pass that is looked at on its way is added up in the
        same order as one that is not.
        """
        loss, headline, counted = (part.cpu().double() for part in self._settled())
        rows = self.rows
        if not ranks.is_alone:
            shares = [loss.reshape(1), headline.reshape(-1), counted.reshape(1)]
            *sums, counted, ranks_rows = ranks.sum(torch.cat([*shares, loss.new_tensor([rows])]))
            loss, headline = sums[0], torch.stack(sums[1:]).reshape(headline.shape)
            rows = int(ranks_rows)
        if not rows:
            raise RunError("there is nothing to measure: every batch of the epoch was skipped")
        return self.task.with_headline((loss / counted).item(), headline / counted)

    def begin(self) -> None:
        """Forget everything: a new pass."""
        self.loss, self.headline = torch.zeros_like(self.loss), torch.zeros_like(self.headline)
        self.counted = torch.zeros_like(self.counted)
        self.rows, self.held, self.held_numbers = 0, [], 0

    def state_dict(self) -> dict[str, Any]:
        """Sums, and what is held back."""
        return {
            "loss": self.loss,
            "headline": self.headline,
            "counted": self.counted,
            "rows": self.rows,
            "held": list(self.held),
        }

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        device = self.loss.device
        self.loss = values["loss"].to(device)
        self.headline = values["headline"].to(device)
        self.counted = values["counted"].to(device)
        self.rows = values["rows"]
        self.held = map_tensors(lambda tensor: tensor.to(device), values["held"])
        self.held_numbers = sum(parts[0].numel() for parts in self.held)

    def load_states(self, states: Sequence[dict[str, Any]]) -> None:
        """Take back what several ranks counted, as one."""
        self.load_state_dict(states[0])
        for values in states[1:]:
            other = RunningMetrics(self.task, self.loss.device)
            other.load_state_dict(values)
            self.loss, self.headline = self.loss + other.loss, self.headline + other.headline
            self.counted = self.counted + other.counted
            self.rows += other.rows
            self.held += other.held
            self.held_numbers += other.held_numbers


def _together(counts: Sequence[Tensor | int], like: Tensor) -> Tensor:
    """Counts of batches as one tensor of floats; those on the device stay there."""
    if isinstance(counts[0], Tensor):
        return torch.stack([torch.as_tensor(count) for count in counts]).to(like)
    return sent(torch.tensor(counts, dtype=like.dtype), like.device)
