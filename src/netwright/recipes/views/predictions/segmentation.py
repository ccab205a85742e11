"""The view `segmentation` of a run: masks over their images.

Shapes: N images, C classes, I rows and J columns of a mask.
"""

import torch

from netwright.core.config import NoSettings
from netwright.inspection.predictions.segmentation_overlay import (
    SegmentationOverlay,
    measure_segmentation,
)
from netwright.recipes.views.entry import ViewEntry, report_card
from netwright.recipes.views.refusals import only_of
from netwright.recipes.views.subject import Subject

BATCH = 8  # images whose probabilities of all pixels are held together


def _measure(subject: Subject, _: NoSettings) -> SegmentationOverlay:
    # Only the masks are kept: C probabilities a pixel of all images might not fit into memory.
    parts = torch.split(subject.inputs, BATCH)
    said = torch.cat([subject.predict(part).argmax(dim=1).byte() for part in parts])  # (N, I, J)
    return measure_segmentation(
        subject.inputs_as_shown,
        subject.targets,
        said,
        subject.run.spec.class_names,
        rows=subject.rows,
    )


SEGMENTATION = ViewEntry(
    card=report_card("Masks over their images: true, predicted, and their difference."),
    measure=_measure,
    refusal=only_of("segmentation is", "mask"),
    section="examples",
    has_examples=True,
    code=(measure_segmentation,),
)
