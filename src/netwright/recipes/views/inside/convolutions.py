"""The views of what a network looks for in images, and where it finds it: filters and their maps.

The members of an ensemble are models beside each other, not layers after each other.
"""

from typing import cast

from torch import nn

from netwright.core.config import NoSettings
from netwright.inspection.drawing.view import View
from netwright.inspection.inside.conv_filters import measure_conv_filters
from netwright.inspection.inside.feature_maps import convolved_maps, measure_feature_maps
from netwright.recipes.views.entry import ViewEntry, report_card
from netwright.recipes.views.refusals import refuse_several
from netwright.recipes.views.subject import Subject


def _refusal(subject: Subject, view: str) -> str:
    run = subject.run
    has_convolutions = any(isinstance(part, nn.Conv2d) for part in run.model.modules())
    if run.spec.inputs != "image" or not has_convolutions:
        return f"{view} are of convolutions over images, {subject.name} has none"
    return refuse_several(subject, f"a view of {view}")


def _refuse_filters(subject: Subject) -> str:
    """Convolutions have filters, and so have models that show their own."""
    return "" if "filters" in subject.own_views else _refusal(subject, "filters")


def _measure_filters(subject: Subject, _: NoSettings) -> View:
    own = subject.own_views.get("filters")
    return own or cast(View, measure_conv_filters(subject.run.model))


def _refuse_maps(subject: Subject) -> str:
    reason = _refusal(subject, "feature maps")
    if reason or convolved_maps(subject.run.model, subject.input_at(0)):
        return reason
    return f"feature maps are of convolutions that an image goes through, {subject.name} has none"


def _measure_maps(subject: Subject, _: NoSettings) -> View:
    return cast(View, measure_feature_maps(subject.run.model, subject.input_at(0)))


FILTERS = ViewEntry(
    card=report_card("What the first units look for, as small pictures."),
    measure=_measure_filters,
    refusal=_refuse_filters,
    section="inside",
    code=(measure_conv_filters,),
)
FEATURE_MAPS = ViewEntry(
    card=report_card("Where in one image each filter responds."),
    measure=_measure_maps,
    refusal=_refuse_maps,
    own_input=True,
    section="inside",
    has_examples=True,
    code=(measure_feature_maps,),
)
