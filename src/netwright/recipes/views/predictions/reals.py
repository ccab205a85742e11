"""The views of predicted reals, in the units of their targets.

Shapes: N examples, K reals.
"""

from typing import cast

from netwright.core.config import NoSettings
from netwright.data.series.encoder import SeriesEncoder
from netwright.inspection.predictions.fitted_curve import FittedCurve, measure_fitted_curve
from netwright.inspection.predictions.forecast import Forecast, measure_forecast
from netwright.inspection.predictions.prediction_surface import (
    PredictionSurface,
    measure_prediction_surface,
)
from netwright.inspection.predictions.residuals import Residuals, measure_residuals
from netwright.inspection.predictions.worst_errors import WorstErrors, measure_worst_errors
from netwright.recipes.views.entry import ViewEntry, report_card
from netwright.recipes.views.refusals import only_of
from netwright.recipes.views.subject import Subject


def _measure_residuals(subject: Subject, _: NoSettings) -> Residuals:
    names, weights = subject.run.spec.target_names, subject.split.weights
    return measure_residuals(subject.targets, subject.predictions, names, weights)


def _is_one_function(subject: Subject) -> bool:
    """Whether the run gives one real as a function of numbers that have no order in time."""
    spec = subject.run.spec
    return spec.num_outputs == 1 and spec.inputs != "series" and not spec.vocab_size


def _refuse_curve(subject: Subject) -> str:
    of_reals = only_of("a fitted curve is", "real")(subject)
    if of_reals or (_is_one_function(subject) and subject.run.spec.num_features == 1):
        return of_reals
    return "a fitted curve needs one real target and one input, this run has more"


def _measure_curve(subject: Subject, _: NoSettings) -> FittedCurve:
    spec = subject.run.spec
    return measure_fitted_curve(
        subject.predict,
        subject.inputs,
        subject.targets,
        spec.feature_names[0],
        spec.target_names[0],
        decode=subject.run.preprocessor.units(),
    )


def _refuse_surface(subject: Subject) -> str:
    of_reals = only_of("a prediction surface is", "real")(subject)
    if of_reals or (_is_one_function(subject) and subject.run.spec.num_features > 1):
        return of_reals
    return (
        "a prediction surface needs one real target and at least two inputs, which this run "
        "does not have"
    )


def _measure_surface(subject: Subject, _: NoSettings) -> PredictionSurface:
    spec = subject.run.spec
    return measure_prediction_surface(
        subject.predict,
        subject.inputs,
        subject.targets,
        spec.feature_names,
        spec.target_names[0],
        decode=subject.run.preprocessor.units(),
    )


def _refuse_forecast(subject: Subject) -> str:
    of_reals = only_of("a forecast is", "real")(subject)
    if of_reals or isinstance(subject.run.preprocessor, SeriesEncoder):
        return of_reals
    return (
        f"a forecast needs a table in chronological order, this run reads {subject.run.spec.inputs}"
    )


def _measure_forecast(subject: Subject, _: NoSettings) -> Forecast:
    names, encoder = subject.run.spec.target_names, cast(SeriesEncoder, subject.run.preprocessor)
    last = encoder.persistence(subject.split.inputs)
    return measure_forecast(subject.targets, subject.predictions, names, last)


def _measure_worst_errors(subject: Subject, _: NoSettings) -> WorstErrors:
    names = subject.run.spec.target_names
    return measure_worst_errors(subject.targets, subject.predictions, names, rows=subject.rows)


RESIDUALS = ViewEntry(
    card=report_card("True minus predicted values."),
    measure=_measure_residuals,
    refusal=only_of("residuals are", "real"),
    section="predictions",
    code=(measure_residuals,),
)
FITTED_CURVE = ViewEntry(
    card=report_card("What a model of one feature has learned, as a curve."),
    measure=_measure_curve,
    refusal=_refuse_curve,
    numbers_only=True,
    one_input=True,
    section="predictions",
    has_examples=True,
    code=(measure_fitted_curve,),
)
PREDICTION_SURFACE = ViewEntry(
    card=report_card("The number that a model gives to every place of a plane through the inputs."),
    measure=_measure_surface,
    refusal=_refuse_surface,
    numbers_only=True,
    one_input=True,
    section="predictions",
    has_examples=True,
    code=(measure_prediction_surface,),
)
FORECAST = ViewEntry(
    card=report_card("A forecast over time, against the truth and the last known value."),
    measure=_measure_forecast,
    refusal=_refuse_forecast,
    section="predictions",
    has_examples=True,
    code=(measure_forecast,),
)
WORST_ERRORS = ViewEntry(
    card=report_card("The rows that a regression misses most."),
    measure=_measure_worst_errors,
    refusal=only_of("worst errors are", "real"),
    section="examples",
    has_examples=True,
    code=(measure_worst_errors,),
)
