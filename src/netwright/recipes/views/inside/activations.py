"""The view `activations` of a run: its layers on examples of the split that its results tell of."""

from dataclasses import dataclass
from typing import Annotated

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.inspection.inside.activations import Activations, measure_activations
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.refusals import refuse_without_layers
from netwright.recipes.views.subject import Subject


@dataclass(frozen=True, kw_only=True)
class ActivationsConfig(Config):
    """Settings of the view."""

    examples: Annotated[Size, Doc("number of examples to run through the model")] = 64


def _measure(subject: Subject, config: ActivationsConfig) -> Activations:
    run = subject.run
    batch = subject.batch(config.examples)
    return measure_activations(run.model, batch.inputs, padding=run.spec.padding)


ACTIVATIONS = ViewEntry(
    card=Card(
        sentence="How the values of every layer are spread over real examples, and which units "
        "are dead or saturated on all of them.",
        formula=r"\mathrm{dead}(u) \Leftrightarrow a_{nu} = 0 \;\forall n, \quad"
        r" \mathrm{saturated}(u) \Leftrightarrow \min_e |a_{nu} - e| < 0.01 \;\forall n",
        symbols={
            "a_{nu}": "what unit u puts out on example n, at every place or step",
            "e": "an end of the activation's range: -1 and 1 of tanh, 0 and 1 of the sigmoid",
        },
        source="Glorot and Bengio (2010), AISTATS 13, 249-256; Maas, Hannun and Ng (2013), ICML "
        "workshop on speech and language",
    ),
    measure=_measure,
    refusal=refuse_without_layers,
    settings=ActivationsConfig,
)
