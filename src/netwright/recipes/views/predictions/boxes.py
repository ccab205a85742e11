"""The view `predicted-boxes` of a run: predicted boxes over their images."""

from netwright.core.config import NoSettings
from netwright.inspection.predictions.predicted_boxes import (
    PredictedBoxes,
    measure_predicted_boxes,
)
from netwright.recipes.views.entry import ViewEntry, report_card
from netwright.recipes.views.refusals import only_of
from netwright.recipes.views.subject import Subject


def _measure(subject: Subject, _: NoSettings) -> PredictedBoxes:
    return measure_predicted_boxes(
        subject.inputs_as_shown,
        subject.targets,
        subject.predictions,
        subject.run.spec.class_names,
        rows=subject.rows,
    )


PREDICTED_BOXES = ViewEntry(
    card=report_card("Predicted boxes over their images, beside the true ones."),
    measure=_measure,
    refusal=only_of("predicted boxes are", "boxes"),
    section="examples",
    has_examples=True,
    code=(measure_predicted_boxes,),
)
