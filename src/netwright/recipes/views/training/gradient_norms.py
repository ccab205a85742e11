"""The view `gradient-norms` of a run: the gradient over the steps that were watched."""

from netwright.core.card import Card
from netwright.core.config import NoSettings
from netwright.inspection.training.gradient_norms import (
    FEWEST_STEPS,
    GradientNorms,
    measure_gradient_norms,
)
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.subject import Subject
from netwright.recipes.views.training.gradient_flow import trained_gradients


def _refusal(subject: Subject) -> str:
    watched = len(subject.run.layer_history)
    if watched >= FEWEST_STEPS:
        return ""
    return (
        f"gradient norms are a curve over {FEWEST_STEPS} steps or more at which the layers were "
        f"watched, this run has {watched}"
    )


def _measure(subject: Subject, _: NoSettings) -> GradientNorms:
    return measure_gradient_norms(trained_gradients(subject.run.layer_history))


GRADIENT_NORMS = ViewEntry(
    card=Card(
        sentence="How long the gradient was at the steps of training, of all layers together and "
        "of each: where it vanishes, explodes or peaks.",
        formula=r"\|g_t\| = \sqrt{\sum_l \|g_{l,t}\|^2}",
        symbols={
            "g_{l,t}": "the gradient of the loss by the weights of layer l at step t, before it is "
            "clipped",
        },
        source="Pascanu, Mikolov and Bengio (2013), ICML 30, 1310-1318",
    ),
    measure=_measure,
    refusal=_refusal,
    data="unused",
    section="learning",
    code=(measure_gradient_norms,),
)
