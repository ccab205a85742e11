"""The stepper on a run: one of its examples forward through the model, and the gradient back.

Shapes: B = 1 example, T steps, D features.
"""

from dataclasses import dataclass
from typing import Annotated

from netwright.core.card import Card
from netwright.core.config import Config, Count, Doc
from netwright.core.errors import ConfigError
from netwright.data.loading.loader import Batch
from netwright.inspection.stepper.step_through import StepThrough, step_through
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.subject import Subject

SEQUENCES = ("tokens", "series")  # inputs that can be cut: (B, T) and (B, T, D)
PER_TOKEN = ("tokens", "tags")  # targets (B, T) that are cut with them


@dataclass(frozen=True, kw_only=True)
class BackpropSettings(Config):
    """Which example goes through the model, and how much of it."""

    example: Annotated[Count, Doc("index of the example in the evaluated split")] = 0
    steps: Annotated[Count, Doc("use only this many first steps of a sequence; 0: all")] = 0


def refuse_backprop(subject: Subject) -> str:
    """A model without parameters has nothing that gradients are wanted of."""
    if any(True for _ in subject.run.model.parameters()):
        return ""
    return f"backpropagation needs parameters, {subject.name} has none"


def measure_backprop(subject: Subject, settings: BackpropSettings) -> StepThrough:
    """Step through the model and the loss of the run on one example."""
    batch = subject.example(settings.example)
    if settings.steps:
        batch = _first_steps(subject, batch, settings.steps)
    return step_through(subject.run.model, batch.inputs, batch, loss=subject.run.task.loss)


def _first_steps(subject: Subject, batch: Batch, steps: int) -> Batch:
    kind = subject.run.spec.inputs
    if kind not in SEQUENCES:
        raise ConfigError(f"steps is for {' or '.join(SEQUENCES)}, this run reads {kind}")
    cut = subject.run.task.target in PER_TOKEN
    targets = batch.targets[:, :steps] if cut else batch.targets
    return batch._replace(inputs=batch.inputs[:, :steps], targets=targets)


BACKPROP = ViewEntry(
    card=Card(
        sentence=(
            "Backpropagation one operation at a time: each hands the gradient that arrives, times "
            "its own derivative, on to its inputs, where contributions add up."
        ),
        formula=r"\frac{\partial L}{\partial v_i} = \sum_{k\,:\,v_i \to v_k} "
        r"\left(\frac{\partial v_k}{\partial v_i}\right)^{\!\top} \frac{\partial L}{\partial v_k}",
        symbols={
            "v_i": "a value: input, parameter or what an operation computed",
            "v_k": "a value that is computed from it",
            "L": "the loss of the example",
        },
        source=(
            'Rumelhart, Hinton and Williams, "Learning representations by back-propagating errors" '
            "(1986)"
        ),
    ),
    measure=measure_backprop,
    refusal=refuse_backprop,
    one_input=True,
    settings=BackpropSettings,
)
