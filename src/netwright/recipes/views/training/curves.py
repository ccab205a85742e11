"""The view `curves` of a run: how loss and measures moved while it learned."""

from dataclasses import dataclass
from typing import Annotated

from netwright.core.config import Config, Doc
from netwright.inspection.drawing.curve import Axis
from netwright.inspection.training.curves import Curves, measure_curves
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.saved.made_steps import best_moment
from netwright.recipes.views.entry import ViewEntry, report_card
from netwright.recipes.views.subject import Subject


@dataclass(frozen=True, kw_only=True)
class CurvesConfig(Config):
    """What the curves are drawn against."""

    axis: Annotated[
        Axis | None,
        Doc("epoch, step, samples or time; default: epoch, or step in a run of few epochs"),
    ] = None


def _measure(subject: Subject, given: CurvesConfig) -> Curves:
    run = subject.run
    curves = measure_curves(run.history, **best_moment(run))
    return curves if given.axis is None else curves.along(given.axis)


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
