"""The view `state-norms` of a run: how its recurrence remembers.

Any model that has `one_way_recurrence` is asked for it.

Shapes: T steps of the first example, D numbers of a step.
"""

import copy
from typing import Protocol, cast, runtime_checkable

from torch import Tensor

from netwright.core.config import NoSettings
from netwright.core.evaluation import evaluating
from netwright.core.trees import tensors_of
from netwright.inspection.inside.state_norms import StateNorms, measure_state_norms
from netwright.layers.recurrence.recurrence import Recurrence
from netwright.recipes.views.entry import ViewEntry, report_card
from netwright.recipes.views.subject import Subject

MOST_STATE = 1024  # numbers of a state whose Jacobians are taken: they are matrices of these


@runtime_checkable
class Remembers(Protocol):
    """A model of sequences that carries a state from step to step."""

    def embed(self, inputs: Tensor, /) -> Tensor:
        """What its recurrence reads of inputs: (B, T, D)."""

    def one_way_recurrence(self) -> Recurrence | None:
        """What carries the state from the first step to the last; None where it reads both ways."""


def _refusal(subject: Subject) -> str:
    recurrence = _recurrence(subject)
    if recurrence is None:
        return (
            "state norms are of recurrent networks that read from the first step to the last, "
            f"{subject.name} carries no such state"
        )
    numbers = sum(part.numel() for part in tensors_of(recurrence.start(1)))
    if numbers > MOST_STATE:
        return (
            f"state norms take Jacobians of at most {MOST_STATE} numbers, the state of "
            f"{subject.name} has {numbers}"
        )
    return "" if subject.first_steps().numel() else "the first text has no tokens to remember"


def _measure(subject: Subject, _: NoSettings) -> StateNorms:
    model = cast(Remembers, subject.run.model)
    # A copy on the CPU: cuDNN gives no gradients while evaluating.
    recurrence = copy.deepcopy(cast(Recurrence, _recurrence(subject))).cpu().eval()
    with evaluating(subject.run.model):
        steps = model.embed(subject.first_steps())[0]  # (T, D)
    return measure_state_norms(recurrence.step, steps.cpu(), recurrence.start(1))


def _recurrence(subject: Subject) -> Recurrence | None:
    model = subject.run.model
    return model.one_way_recurrence() if isinstance(model, Remembers) else None


STATE_NORMS = ViewEntry(
    card=report_card("How a recurrence remembers: its state and its gradients."),
    measure=_measure,
    refusal=_refusal,
    one_input=True,
    own_input=True,
    section="inside",
    code=(measure_state_norms,),
)
