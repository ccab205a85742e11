"""The views that a report shows, asked for one by one.

They are measured together, since most of them need the same predictions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.inspection.attribution.feature_importance import measure_feature_importance
from netwright.inspection.attribution.weight_path import measure_weight_path
from netwright.inspection.dataset.class_balance import measure_class_balance
from netwright.inspection.dataset.contact_sheet import measure_contact_sheet
from netwright.inspection.dataset.target_spread import measure_target_spread
from netwright.inspection.drawing.curve import Axis
from netwright.inspection.drawing.view import View
from netwright.inspection.inside.attention_maps import measure_attention_maps
from netwright.inspection.inside.conv_filters import measure_conv_filters
from netwright.inspection.inside.energy_descent import measure_energy_descent
from netwright.inspection.inside.feature_maps import measure_feature_maps
from netwright.inspection.inside.recalled_patterns import measure_recalled_patterns
from netwright.inspection.inside.state_norms import measure_state_norms
from netwright.inspection.inside.summary import measure_summary
from netwright.inspection.predictions.calibration import measure_calibration
from netwright.inspection.predictions.confusion import measure_confusion
from netwright.inspection.predictions.decision_regions import measure_decision_regions
from netwright.inspection.predictions.ensemble_members import measure_ensemble_members
from netwright.inspection.predictions.fitted_curve import measure_fitted_curve
from netwright.inspection.predictions.forecast import measure_forecast
from netwright.inspection.predictions.hyperplane import measure_hyperplane
from netwright.inspection.predictions.label_errors import measure_label_errors
from netwright.inspection.predictions.next_tokens import measure_next_tokens
from netwright.inspection.predictions.noise_band import measure_noise_band
from netwright.inspection.predictions.prediction_surface import measure_prediction_surface
from netwright.inspection.predictions.residual_density import measure_residual_density
from netwright.inspection.predictions.residuals import measure_residuals
from netwright.inspection.predictions.segmentation_overlay import measure_segmentation
from netwright.inspection.predictions.worst_errors import measure_worst_errors
from netwright.inspection.predictions.wrong_examples import measure_wrong_examples
from netwright.inspection.training.curves import measure_curves
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.saved.made_steps import best_moment
from netwright.recipes.views.entry import Subject, ViewEntry


def _take(name: str, subject: Subject, _: Config) -> View:
    return subject.report_views[name]


def _why_not(name: str, subject: Subject) -> str:
    if name in subject.report_views:
        return ""
    if subject.sample is None:
        return f"{name} needs the run's data: {subject.absent}"
    return f"this run has no {name}; its report shows {', '.join(subject.report_views)}"


def _in_report(
    name: str,
    measure: Callable[..., Any],
    sentence: str,
    *,
    formula: str = "",
    source: str = "the report of a run",
) -> ViewEntry:
    return ViewEntry(
        card=Card(sentence=sentence, formula=formula, source=source),
        measure=partial(_take, name),
        refusal=partial(_why_not, name),
        data="welcome",
        code=(measure,),
    )


SUMMARY = _in_report(
    "summary", measure_summary, "The layers a batch goes through, with their sizes and their work."
)


@dataclass(frozen=True, kw_only=True)
class CurvesConfig(Config):
    """What the curves are drawn against."""

    axis: Annotated[
        Axis | None,
        Doc("epoch, step, samples or time; if not given epoch, in a run of few epochs step"),
    ] = None


def _curves(subject: Subject, given: CurvesConfig) -> View:
    run = subject.run
    curves = measure_curves(run.history, **best_moment(run))
    return curves if given.axis is None else curves.along(given.axis)


def _no_curves(subject: Subject) -> str:
    if isinstance(subject.run.model, Ensemble):
        return "an ensemble has no curves of its own: its members learned one after the other"
    return "" if len(subject.run.history) else "this run has measured nothing while it learned"


CURVES = ViewEntry(
    card=Card(
        sentence="How loss and measures moved on training and validation data.",
        formula="",
        source="the report of a run",
    ),
    measure=_curves,
    refusal=_no_curves,
    settings=CurvesConfig,
    data="unused",
    code=(measure_curves,),
)
CONFUSION = _in_report("confusion", measure_confusion, "Which classes are taken for which.")
CALIBRATION = _in_report(
    "calibration",
    measure_calibration,
    "Of the answers given with 80 % confidence, are 80 % right?",
    formula=r"\mathrm{ECE} = \sum_b \frac{n_b}{n} \left|\mathrm{acc}_b - \mathrm{conf}_b\right|",
    source='Guo et al., "On Calibration of Modern Neural Networks" (2017)',
)
DECISION_REGIONS = _in_report(
    "decision-regions",
    measure_decision_regions,
    "The class at every place of a plane through the inputs, and the boundary between classes.",
)
FITTED_CURVE = _in_report(
    "fitted-curve", measure_fitted_curve, "What a model of one feature has learned, as a curve."
)
PREDICTION_SURFACE = _in_report(
    "prediction-surface",
    measure_prediction_surface,
    "The number that a model gives to every place of a plane through the inputs.",
)
RESIDUALS = _in_report(
    "residuals", measure_residuals, "What is left of the truth without the prediction."
)
LABEL_ERRORS = _in_report(
    "label-errors", measure_label_errors, "What each label found, missed, and falsely reported."
)
WRONG_EXAMPLES = _in_report(
    "wrong-examples", measure_wrong_examples, "The surest mistakes, and the narrowest right ones."
)
WORST_ERRORS = _in_report(
    "worst-errors", measure_worst_errors, "The rows that a regression misses most."
)
SEGMENTATION = _in_report(
    "segmentation", measure_segmentation, "Masks over their images: true, said, and different."
)
FORECAST = _in_report(
    "forecast", measure_forecast, "A forecast over time, beside the truth and beside no change."
)
NEXT_TOKENS = _in_report(
    "next-tokens", measure_next_tokens, "What a language model expects at each place of a text."
)
STATE_NORMS = _in_report(
    "state-norms", measure_state_norms, "How a recurrence remembers: its state and its gradients."
)
ATTENTION = _in_report(
    "attention",
    measure_attention_maps,
    "From where each token takes what it needs, a panel a head.",
    formula=r"\mathrm{softmax}\!\left(Q K^\top / \sqrt{d}\right)",
    source='Vaswani et al., "Attention Is All You Need" (2017)',
)
ALIGNMENT = _in_report(
    "alignment",
    measure_attention_maps,
    "Where a decoder looks in the source while it says each token.",
    source='Bahdanau, Cho and Bengio, "Neural Machine Translation by Jointly Learning to Align '
    'and Translate" (2015)',
)
FILTERS = _in_report(
    "filters", measure_conv_filters, "What the first units look for, as small pictures."
)
FEATURE_MAPS = _in_report(
    "feature-maps", measure_feature_maps, "Where in one image each filter responds."
)
CONTACT_SHEET = _in_report(
    "contact-sheet", measure_contact_sheet, "What augmentations make of one training image."
)
CLASS_BALANCE = _in_report(
    "class-balance", measure_class_balance, "How much of each split is of each class."
)
TARGET_SPREAD = _in_report(
    "target-spread", measure_target_spread, "What values there are to predict, split by split."
)

# What models have of their own.
ENSEMBLE_MEMBERS = _in_report(
    "ensemble-members",
    measure_ensemble_members,
    "The score of each member beside that of all together, and of the first few.",
)
FEATURE_IMPORTANCE = _in_report(
    "feature-importance",
    measure_feature_importance,
    "How much each feature took part in the splits of trees.",
)
HYPERPLANE = _in_report(
    "hyperplane",
    measure_hyperplane,
    "How a perceptron's hyperplane was found, and how far the examples lie from it.",
)
WEIGHT_PATH = _in_report(
    "weight-path",
    measure_weight_path,
    "Which inputs come in first as a penalty falls, and how far they go.",
)
NOISE_BAND = _in_report(
    "noise-band", measure_noise_band, "A fitted line, and the band that holds 19 of 20 targets."
)
RESIDUAL_DENSITY = _in_report(
    "residual-density",
    measure_residual_density,
    "Residuals beside the normal density that a model takes them for.",
)
RECALLED_PATTERNS = _in_report(
    "recalled-patterns",
    measure_recalled_patterns,
    "What a memory makes of its own patterns after they were disturbed.",
)
ENERGY_DESCENT = _in_report(
    "energy-descent", measure_energy_descent, "How the energy of a memory falls while it recalls."
)
