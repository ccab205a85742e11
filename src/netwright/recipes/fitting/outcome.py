"""What a fit leaves in memory, whichever way the model learned."""

from dataclasses import dataclass, field

from netwright.core.finding import Finding
from netwright.train.watching.history import History
from netwright.train.watching.layer_history import LayerHistory


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a fit went.

    Args:
        history: all that was measured.
        status: "done", or why it stopped early.
        epochs: passes, or steps of a model's own rule, that were made.
        best_epoch: the one whose weights were kept.
        steps: updates that were made, by gradients or by a rule that goes on exactly.
        best_step: the one whose weights were kept.
        seconds: of training.
        compile_seconds: of compiling before it.
        finished: nothing is left to learn: it was neither interrupted nor ended by a limit.
        notes: what happened on the way and should be known, one sentence each.
        layer_history: what the layers did at the steps that the doctor watched.
        ending: that it ended with more to learn, or where no optimum can be.
        lr: the first learning rate of an optimizer of the caller's own; None: the recipe has it.
        exit_code: 0, or what a signal asks the process to end with.
    """

    history: History
    status: str
    epochs: int
    best_epoch: int
    steps: int = 0
    best_step: int = 0
    seconds: float
    compile_seconds: float = 0.0
    finished: bool = True
    notes: tuple[str, ...] = ()
    layer_history: LayerHistory = field(default_factory=LayerHistory)
    ending: Finding | None = None
    lr: float | None = None
    exit_code: int = 0
