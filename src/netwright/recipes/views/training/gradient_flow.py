"""The view `gradient-flow` of a run: by layer on a batch, and by step where training noted it."""

from dataclasses import dataclass
from typing import Annotated

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.core.learner import Learner
from netwright.inspection.training.gradient_flow import (
    GradientFlow,
    TrainedGradients,
    measure_gradient_flow,
)
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.refusals import refuse_without_layers
from netwright.recipes.views.subject import Subject
from netwright.train.watching.layer_history import LayerHistory


@dataclass(frozen=True, kw_only=True)
class GradientFlowConfig(Config):
    """Settings of the view."""

    examples: Annotated[Size, Doc("number of examples in the loss")] = 32


def _refusal(subject: Subject) -> str:
    if isinstance(subject.run.model, Learner):
        return (
            f"gradient flow needs a model trained by gradients, {subject.name} has its own "
            "learning rule"
        )
    return refuse_without_layers(subject)


def _measure(subject: Subject, config: GradientFlowConfig) -> GradientFlow:
    run = subject.run
    batch = subject.batch(config.examples)
    return measure_gradient_flow(
        run.model,
        run.task.inputs(batch),
        lambda output: run.task.loss(output, batch),
        trained=trained_gradients(run.layer_history) if len(run.layer_history) else None,
    )


def trained_gradients(history: LayerHistory) -> TrainedGradients:
    """The gradients that were noted while training."""
    return TrainedGradients(
        layers=history.layers,
        steps=tuple(history.steps),
        norms=tuple(tuple(history.series("gradient", layer)) for layer in history.layers),
    )


GRADIENT_FLOW = ViewEntry(
    card=Card(
        sentence="How large the loss's gradient is at every layer, from the output to the input, "
        "and how it went while training: where it vanishes or explodes.",
        formula=r"\delta_l = \frac{\partial \ell}{\partial z_l} = "
        r"\sum_{k \in A(l)} J_{kl}^\top \delta_k, \quad \|\delta_l\| \approx c\, \|\delta_{l+1}\|",
        symbols={
            "z_l": "what layer l puts out, for all examples of the batch",
            "A(l)": "the layers that read it, in a chain the next one alone",
            "J_{kl}": "the Jacobian of what layer k puts out by it",
            "l + 1": "the layer that ran next; a head that is the embedding once more has no row",
            "c": "the factor of a layer, on average: below 1 gradients vanish, above 1 they "
            "explode",
        },
        source="Bengio, Simard and Frasconi (1994), IEEE Transactions on Neural Networks 5, "
        "157-166; Glorot and Bengio (2010), AISTATS 13, 249-256",
    ),
    measure=_measure,
    refusal=_refusal,
    settings=GradientFlowConfig,
)
