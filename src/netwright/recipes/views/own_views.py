"""The views that only some models have: a model measures them itself, see `Model.own_views`."""

from collections.abc import Callable

from netwright.core.config import NoSettings
from netwright.inspection.attribution.feature_importance import measure_feature_importance
from netwright.inspection.attribution.weight_path import measure_weight_path
from netwright.inspection.drawing.view import View
from netwright.inspection.inside.energy_descent import measure_energy_descent
from netwright.inspection.inside.recalled_patterns import measure_recalled_patterns
from netwright.inspection.predictions.ensemble_members import measure_ensemble_members
from netwright.inspection.predictions.hyperplane import measure_hyperplane
from netwright.inspection.predictions.noise_band import measure_noise_band
from netwright.inspection.predictions.residual_density import measure_residual_density
from netwright.recipes.views.entry import Section, ViewEntry, report_card
from netwright.recipes.views.refusals import THE_OTHERS
from netwright.recipes.views.subject import Subject


def _own_view(
    name: str,
    measure: Callable[..., View],
    sentence: str,
    *,
    section: Section = "inside",
    has_examples: bool = False,
) -> ViewEntry:
    """An entry for what models give by this name, measured by this function."""

    def take(subject: Subject, _: NoSettings) -> View:
        return subject.own_views[name]

    def refusal(subject: Subject) -> str:
        if name in subject.own_views:
            return ""
        return f"{subject.name} has no {name} to show; {THE_OTHERS}"

    return ViewEntry(
        card=report_card(sentence),
        measure=take,
        refusal=refusal,
        section=section,
        has_examples=has_examples,
        code=(measure,),
    )


ENSEMBLE_MEMBERS = _own_view(
    "ensemble-members",
    measure_ensemble_members,
    "The score of each member beside that of all together, and of the first few.",
    section="learning",
)
FEATURE_IMPORTANCE = _own_view(
    "feature-importance",
    measure_feature_importance,
    "How much each feature took part in the splits of trees.",
)
HYPERPLANE = _own_view(
    "hyperplane",
    measure_hyperplane,
    "How a perceptron's hyperplane was found, and how far the examples lie from it.",
)
WEIGHT_PATH = _own_view(
    "weight-path",
    measure_weight_path,
    "Which inputs come in first as a penalty falls, and how far they go.",
)
NOISE_BAND = _own_view(
    "noise-band",
    measure_noise_band,
    "A fitted line, and the band that holds 19 of 20 targets.",
    has_examples=True,
)
RESIDUAL_DENSITY = _own_view(
    "residual-density",
    measure_residual_density,
    "Residuals beside the normal density that a model takes them for.",
)
RECALLED_PATTERNS = _own_view(
    "recalled-patterns",
    measure_recalled_patterns,
    "What a memory makes of its own patterns after they were disturbed.",
    has_examples=True,
)
ENERGY_DESCENT = _own_view(
    "energy-descent",
    measure_energy_descent,
    "How the energy of a memory falls while it recalls.",
)
