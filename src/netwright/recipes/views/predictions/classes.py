"""The views of predicted classes, labels and tags, by the probabilities that a run gives them.

Shapes: N examples, C classes, labels or tags, T tokens.
"""

from netwright.core.card import Card
from netwright.core.config import NoSettings
from netwright.data.spec import IGNORED
from netwright.inspection.predictions.calibration import Calibration, measure_calibration
from netwright.inspection.predictions.confusion import Confusion, measure_confusion
from netwright.inspection.predictions.decision_regions import (
    DecisionRegions,
    measure_decision_regions,
)
from netwright.inspection.predictions.label_errors import LabelErrors, measure_label_errors
from netwright.inspection.predictions.lift import Lift, measure_lift
from netwright.inspection.predictions.threshold_curves import (
    ThresholdCurves,
    has_both_sides,
    measure_threshold_curves,
)
from netwright.inspection.predictions.wrong_examples import WrongExamples, measure_wrong_examples
from netwright.metrics.labels import THRESHOLD
from netwright.recipes.views.entry import ViewEntry, report_card
from netwright.recipes.views.refusals import only_of
from netwright.recipes.views.subject import Subject


def _measure_confusion(subject: Subject, _: NoSettings) -> Confusion:
    targets, predictions, weights = subject.targets, subject.predictions, subject.split.weights
    if subject.run.spec.target == "tags":  # over all tokens that count
        counted = targets != IGNORED  # (N, T)
        targets, predictions, weights = targets[counted], predictions[counted], None
    return measure_confusion(
        targets,
        predictions,
        subject.run.spec.class_names,
        weights,
        is_sample=subject.rows is not None,
        threshold=subject.run.task.threshold,
    )


def _measure_label_errors(subject: Subject, _: NoSettings) -> LabelErrors:
    names, weights = subject.run.spec.class_names, subject.split.weights
    return measure_label_errors(subject.targets, subject.predictions, names, weights)


def _measure_calibration(subject: Subject, _: NoSettings) -> Calibration:
    names, weights = subject.run.spec.class_names, subject.split.weights
    return measure_calibration(subject.targets, subject.predictions, weights, class_names=names)


def _refuse_thresholds(subject: Subject) -> str:
    spec = subject.run.spec
    if spec.target != "class":
        return only_of("threshold curves are", "class")(subject)
    if has_both_sides(subject.targets, spec.num_outputs, subject.split.weights):
        return ""
    return "threshold curves need examples of two classes that count, there is one"


def _measure_thresholds(subject: Subject, _: NoSettings) -> ThresholdCurves:
    names, weights = subject.run.spec.output_names, subject.split.weights
    kept = subject.run.task.threshold
    threshold = THRESHOLD if kept is None else kept
    return measure_threshold_curves(
        subject.targets, subject.predictions, names, weights, threshold=threshold
    )


def _refuse_lift(subject: Subject) -> str:
    spec = subject.run.spec
    if spec.target == "class" and spec.num_outputs != 2:
        return f"lift is for two classes, this run has {spec.num_outputs}"
    return only_of("lift is", "class")(subject) or _refuse_thresholds(subject)


def _measure_lift(subject: Subject, _: NoSettings) -> Lift:
    name = subject.run.spec.output_names[1]
    return measure_lift(subject.targets, subject.predictions, name, subject.split.weights)


def _refuse_regions(subject: Subject) -> str:
    spec = subject.run.spec
    if spec.target == "class" and (spec.inputs != "features" or spec.num_features < 2):
        return "decision regions are on a plane through a table of two features or more"
    return only_of("decision regions are", "class")(subject)


def _measure_regions(subject: Subject, _: NoSettings) -> DecisionRegions:
    spec = subject.run.spec
    return measure_decision_regions(
        subject.predict,
        subject.inputs,
        subject.targets,
        spec.class_names,
        spec.feature_names,
        decode=subject.run.preprocessor.units(),
        threshold=subject.run.task.threshold,
    )


def _measure_wrong_examples(subject: Subject, _: NoSettings) -> WrongExamples:
    return measure_wrong_examples(
        subject.inputs_as_shown,
        subject.targets,
        subject.predictions,
        subject.run.spec.class_names,
        rows=subject.rows,
        threshold=subject.run.task.threshold,
    )


CONFUSION = ViewEntry(
    card=report_card("Which classes are taken for which."),
    measure=_measure_confusion,
    refusal=only_of("a confusion matrix is", "class", "tags"),
    section="predictions",
    code=(measure_confusion,),
)
LABEL_ERRORS = ViewEntry(
    card=report_card("What each label found, missed, and falsely reported."),
    measure=_measure_label_errors,
    refusal=only_of("label errors are", "labels"),
    section="predictions",
    code=(measure_label_errors,),
)
CALIBRATION = ViewEntry(
    card=Card(
        sentence="Of the answers given with 80 % confidence, are 80 % right?",
        formula=r"\mathrm{ECE} = \sum_b \frac{n_b}{n} "
        r"\left|\mathrm{acc}_b - \mathrm{conf}_b\right|",
        source='Guo et al., "On Calibration of Modern Neural Networks" (2017)',
    ),
    measure=_measure_calibration,
    refusal=only_of("calibration is", "class"),
    section="predictions",
    code=(measure_calibration,),
)
THRESHOLD_CURVES = ViewEntry(
    card=Card(
        sentence="The ROC curve, and precision against recall: what every threshold would give.",
        formula=r"\mathrm{recall} = \frac{TP}{TP + FN}, \quad \mathrm{false\ alarms} ="
        r" \frac{FP}{FP + TN}, \quad \mathrm{precision} = \frac{TP}{TP + FP}",
        source='Fawcett, "An Introduction to ROC Analysis" (2006)',
    ),
    measure=_measure_thresholds,
    refusal=_refuse_thresholds,
    section="predictions",
    code=(measure_threshold_curves,),
)
LIFT = ViewEntry(
    card=Card(
        sentence="How many more positives the most probable rows hold than as many by chance.",
        formula=r"\mathrm{lift}(q) = \frac{\mathrm{gain}(q)}{q}, \quad"
        r" \mathrm{gain}(q) = \frac{\text{positives among the first } qN}{\text{positives}}",
        symbols={
            "q": "share of the rows, ordered by probability, the highest first",
            "N": "number of rows",
        },
        source="Provost and Fawcett, Data Science for Business (2013), chapter 8",
    ),
    measure=_measure_lift,
    refusal=_refuse_lift,
    code=(measure_lift,),
)
DECISION_REGIONS = ViewEntry(
    card=report_card(
        "The class at every place of a plane through the inputs, and the boundary between classes."
    ),
    measure=_measure_regions,
    refusal=_refuse_regions,
    numbers_only=True,
    section="predictions",
    has_examples=True,
    code=(measure_decision_regions,),
)
WRONG_EXAMPLES = ViewEntry(
    card=report_card("The surest mistakes, and the narrowest right ones."),
    measure=_measure_wrong_examples,
    refusal=only_of("wrong examples are", "class"),
    section="examples",
    has_examples=True,
    code=(measure_wrong_examples,),
)
