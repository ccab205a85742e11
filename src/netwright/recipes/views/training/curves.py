"""The view `curves` of a run: how loss and measures moved while it learned."""

from dataclasses import dataclass
from typing import Annotated

from torch import Tensor

from netwright.core.config import Config, Doc
from netwright.inspection.drawing.curve import Axis
from netwright.inspection.training.curves import Curves, measure_curves
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.saved.made_steps import best_moment
from netwright.recipes.views.entry import ViewEntry, report_card
from netwright.recipes.views.subject import Subject

COUNTED = 10_000  # training examples whose tokens are counted


@dataclass(frozen=True, kw_only=True)
class CurvesConfig(Config):
    """What the curves are drawn against."""

    axis: Annotated[
        Axis | None,
        Doc(
            "epoch, step, samples, tokens (of texts) or time; default: epoch, or step in a run of "
            "few epochs"
        ),
    ] = None


def _measure(subject: Subject, given: CurvesConfig) -> Curves:
    run = subject.run
    curves = measure_curves(run.history, **best_moment(run), tokens_each=_tokens_each(subject))
    return curves if given.axis is None else curves.along(given.axis)


def _tokens_each(subject: Subject) -> float | None:
    """The tokens of a training example; of padded texts the mean, where the data is at hand."""
    spec = subject.run.spec
    if not spec.vocab_size or spec.inputs not in {"tokens", "masked", "pairs"}:
        return None
    if spec.padding is None:
        return spec.input_shape[0]
    if subject.sample is None:
        return None
    inputs = subject.first_training_inputs(COUNTED)
    if not isinstance(inputs, Tensor) or inputs.is_floating_point():  # a bag of words
        return None
    return int((inputs != spec.padding).sum()) / len(inputs)


def _refusal(subject: Subject) -> str:
    if isinstance(subject.run.model, Ensemble):
        return "an ensemble has no curves of its own: its members were trained one after the other"
    return "" if len(subject.run.history) else "this run recorded no metrics during training"


CURVES = ViewEntry(
    card=report_card("How loss and measures moved on training and validation data."),
    measure=_measure,
    refusal=_refusal,
    settings=CurvesConfig,
    data="unused",
    section="learning",
    code=(measure_curves,),
)
