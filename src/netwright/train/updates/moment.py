"""Where a batch stood in a run, so that the run can stand there again.

Weights, moments and buffers are no part of it: from a bad batch on the device leaves them alone.
"""

from typing import Any, NamedTuple

from torch import Tensor

from netwright.core.seeding import Draws
from netwright.data.loading.loader import Batch
from netwright.train.state import TrainState


class Before(NamedTuple):
    """What a batch moves on the host, as it was before it.

    Args:
        groups: the optimizer's, whose settings a schedule moves.
        schedule: its state.
        running: the measures of the pass.
        recent: the losses by step.
        averaged: updates in the average of the weights, and the last of them.
    """

    groups: list[dict[str, Any]]
    schedule: dict[str, Any]
    running: dict[str, Any]
    recent: dict[str, Any]
    averaged: tuple[int, int]

    @classmethod
    def of(cls, state: TrainState) -> "Before":
        """Between two batches; nothing is copied, since all of it is replaced when it moves."""
        mean = state.average
        return cls(
            groups=[dict(group) for group in state.optimizer.param_groups],
            schedule=state.schedule.state_dict(),
            running=state.running.state_dict(),
            recent=state.recent.state_dict(),
            averaged=(0, 0) if mean is None else (mean.count, mean.step),
        )

    def put_back(self, state: TrainState) -> None:
        """Let all of it be as it was."""
        state.schedule.load_state_dict(self.schedule)
        for group, settings in zip(state.optimizer.param_groups, self.groups, strict=True):
            group.update(settings)
        state.running.load_state_dict(self.running)
        state.recent.load_state_dict(self.recent)
        if state.average is not None:
            state.average.count, state.average.step = self.averaged


class Moment(NamedTuple):
    """A batch with its place, to go back to.

    Args:
        epoch: of the batch.
        position: batches of the pass with this one.
        step: updates before its own.
        samples: examples before its own.
        batch: as the model saw it.
        loss: of it.
        before: what it moved.
        draws: the generators after it; None where nobody goes on from there.
    """

    epoch: int
    position: int
    step: int
    samples: int
    batch: Batch | None
    loss: Tensor
    before: Before
    draws: Draws | None

    @classmethod
    def of(cls, state: TrainState, before: Before, *, with_draws: bool = False) -> "Moment":
        """The batch at hand, before its update or after it."""
        made = not state.is_updating
        return cls(
            epoch=state.epoch,
            position=state.position,
            step=state.step - made,
            samples=state.samples - (len(state.batch.rows) if made and state.batch else 0),
            batch=state.batch,
            loss=state.loss,
            before=before,
            draws=Draws.now() if with_draws else None,
        )

    @property
    def place(self) -> tuple[int, int]:
        """The pass, and the batches of it with this one."""
        return self.epoch, self.position

    def put_back(self, state: TrainState) -> None:
        """Let the run stand before the update by this batch, which is at hand."""
        for name in ("epoch", "position", "step", "samples", "batch", "loss"):
            setattr(state, name, getattr(self, name))
        self.before.put_back(state)

    def pass_over(self, state: TrainState) -> None:
        """Let the run stand behind this batch as if its update had been left out at once."""
        self.put_back(state)
        state.samples += 0 if self.batch is None else len(self.batch.rows)
        if self.draws is not None:
            self.draws.put_back()
