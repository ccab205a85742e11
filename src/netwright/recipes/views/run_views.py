"""Every view of a run, measured from its model, its history and its data.

Shapes: N examples of the split that the results tell of, C classes or labels, K reals.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, cast

import torch
from torch import Tensor, nn

from netwright.core.devices import device_of
from netwright.core.learner import Learner
from netwright.data.dataset import Data, Split
from netwright.data.preprocessing import Preprocessor
from netwright.data.spec import DataSpec
from netwright.data.stored import Sample
from netwright.inspection.dataset.class_balance import measure_class_balance
from netwright.inspection.dataset.contact_sheet import measure_contact_sheet
from netwright.inspection.dataset.target_spread import measure_target_spread
from netwright.inspection.drawing.view import View
from netwright.inspection.inside.conv_filters import measure_conv_filters
from netwright.inspection.inside.feature_maps import measure_feature_maps
from netwright.inspection.inside.summary import measure_summary
from netwright.inspection.predictions.calibration import measure_calibration
from netwright.inspection.predictions.confusion import measure_confusion
from netwright.inspection.predictions.decision_regions import measure_decision_regions
from netwright.inspection.predictions.fitted_curve import measure_fitted_curve
from netwright.inspection.predictions.label_errors import measure_label_errors
from netwright.inspection.predictions.prediction_surface import measure_prediction_surface
from netwright.inspection.predictions.residuals import measure_residuals
from netwright.inspection.predictions.segmentation_overlay import measure_segmentation
from netwright.inspection.predictions.worst_errors import measure_worst_errors
from netwright.inspection.predictions.wrong_examples import measure_wrong_examples
from netwright.inspection.training.curves import measure_curves
from netwright.models.ensembles.ensemble import Ensemble, Member
from netwright.models.model import Model
from netwright.recipes.saved.made_steps import best_moment
from netwright.recipes.views.sequence_views import (
    inner_views,
    pair_views,
    series_views,
    tag_views,
    text_views,
)
from netwright.train.evaluate import predict
from netwright.train.history import History
from netwright.train.layer_history import LayerHistory
from netwright.train.tasks.task import Task

# Views that show examples of the data.
EXAMPLES = frozenset(
    {
        "alignment",
        "attention",
        "contact-sheet",
        "decision-regions",
        "feature-maps",
        "fitted-curve",
        "forecast",
        "next-tokens",
        "noise-band",
        "prediction-surface",
        "recalled-patterns",
        "segmentation",
        "wrong-examples",
        "worst-errors",
    }
)
BATCH = 32  # examples that go through the model for its summary
MASK_BATCH = 8  # images whose probabilities of all pixels are held together


class Measured(Protocol):
    """What views are measured from: a run."""

    model: nn.Module
    spec: DataSpec
    task: Task
    preprocessor: Preprocessor
    results: dict[str, Any]
    config: dict[str, Any]
    history: History
    layer_history: LayerHistory
    folder: Path | None


def measure_views(run: Measured, sample: Sample | None) -> dict[str, View]:
    """The views that this run has, by name; those of predictions need its data, or a sample."""
    views: dict[str, View] = {}
    if len(run.history) and not isinstance(run.model, Ensemble):  # whose lessons are no curve
        views["curves"] = measure_curves(run.history, **best_moment(run))
    if sample is not None:
        split = sample.shown.split(run.results["split"])
        views |= _BY_TARGET[run.task.target](run, split, sample.rows(run.results["split"]))
        views |= _target_views(sample.whole)
        views |= _augmentation_views(run, sample.shown)
        views |= _convolution_views(run, split)
        views |= inner_views(run.model, run.preprocessor, split)
        if isinstance(run.model, Model):
            views |= run.model.own_views(split.to(device_of(run.model)))
    dtype = torch.int64 if run.spec.vocab_size else torch.float32
    empty = torch.zeros(1, *run.spec.input_shape, dtype=dtype)
    example = empty if sample is None else _first(sample.shown.train)
    views["summary"] = measure_summary(run.model, example.to(device_of(run.model)))
    return views


def _augmentation_views(run: Measured, data: Data) -> dict[str, View]:
    """What the run made of a training image, where anything in it learned by gradients."""
    augment, model = run.config["train"].get("augment"), run.model
    members = cast(list[Member], list(model.members)) if isinstance(model, Ensemble) else []
    taught = [member.model for member in members] or [model]
    if not augment or all(isinstance(one, Learner) for one in taught):
        return {}
    sheet = measure_contact_sheet(
        _first(data.train).cpu(),
        augment,
        run.spec,
        seed=run.config["seed"],
        decode=run.preprocessor.units(),
    )
    return {"contact-sheet": sheet}


def _convolution_views(run: Measured, split: Split) -> dict[str, View]:
    """What a model with convolutions looks for in images, and where it finds it.

    The members of an ensemble are models beside each other, not layers after each other.
    """
    if run.spec.inputs != "image" or isinstance(run.model, Ensemble):
        return {}
    image = split.read(torch.zeros(1, dtype=torch.int64, device=split.targets.device))
    found = {
        "filters": measure_conv_filters(run.model),
        "feature-maps": measure_feature_maps(run.model, image.to(device_of(run.model))),
    }
    return {name: view for name, view in found.items() if view is not None}


def _first(split: Split) -> Tensor:
    """The inputs of a few examples."""
    rows = min(BATCH, len(split))
    return split.read(torch.arange(rows, device=split.targets.device))


def _as_they_came(run: Measured, inputs: Tensor) -> Tensor:
    """Images in the units that they came in, so that colours are right; the rest as it is."""
    if run.spec.inputs != "image":
        return inputs
    offset, scale = run.preprocessor.units()
    return (inputs.flatten(1) * scale + offset).reshape(inputs.shape)


def _class_views(run: Measured, split: Split, rows: Tensor | None) -> dict[str, View]:
    names, targets, weights = run.spec.class_names, split.targets.cpu(), split.weights
    inputs = split.inputs.cpu()
    predictions, is_sample = _predictor(run)(inputs), rows is not None
    views: dict[str, View] = {
        "confusion": measure_confusion(targets, predictions, names, weights, is_sample=is_sample),
        "calibration": measure_calibration(targets, predictions, weights, class_names=names),
    }
    if run.spec.inputs == "features" and run.spec.num_features > 1:
        views["decision-regions"] = measure_decision_regions(
            _predictor(run),
            inputs,
            targets,
            names,
            run.spec.feature_names,
            decode=run.preprocessor.units(),
        )
    shown = _as_they_came(run, inputs)
    views["wrong-examples"] = measure_wrong_examples(shown, targets, predictions, names, rows=rows)
    return views


def _label_views(run: Measured, split: Split, _rows: Tensor | None) -> dict[str, View]:
    names, targets = run.spec.class_names, split.targets.cpu()
    predictions = _predictor(run)(split.inputs)
    return {"label-errors": measure_label_errors(targets, predictions, names, split.weights)}


def _real_views(run: Measured, split: Split, rows: Tensor | None) -> dict[str, View]:
    names, targets, inputs = run.spec.target_names, split.targets.cpu(), split.inputs.cpu()
    predictions = _predictor(run)(inputs)
    views: dict[str, View] = {
        "residuals": measure_residuals(targets, predictions, names, split.weights)
    }
    if run.spec.inputs == "series":
        views |= series_views(run.preprocessor, split, predictions, names)
    elif run.spec.num_outputs == 1 and not run.spec.vocab_size:
        views |= _real_shapes(run, inputs, targets)
    views["worst-errors"] = measure_worst_errors(targets, predictions, names, rows=rows)
    return views


def _real_shapes(run: Measured, inputs: Tensor, targets: Tensor) -> dict[str, View]:
    """What one real is as a function of one number, or of two directions through many."""
    names, units, name = run.spec.feature_names, run.preprocessor.units(), run.spec.target_names[0]
    if run.spec.num_features == 1:
        curve = measure_fitted_curve(_predictor(run), inputs, targets, names[0], name, decode=units)
        return {"fitted-curve": curve}
    surface = measure_prediction_surface(
        _predictor(run), inputs, targets, names, name, decode=units
    )
    return {"prediction-surface": surface}


def _mask_views(run: Measured, split: Split, rows: Tensor | None) -> dict[str, View]:
    inputs, names, targets = split.inputs.cpu(), run.spec.class_names, split.targets.cpu()
    predicted = _predictor(run)
    # Only the masks are kept: C probabilities a pixel of all images might not fit into memory.
    parts = torch.split(inputs, MASK_BATCH)
    said = torch.cat([predicted(part).argmax(dim=1).byte() for part in parts])
    images = _as_they_came(run, inputs)
    return {"segmentation": measure_segmentation(images, targets, said, names, rows=rows)}


def _token_views(run: Measured, split: Split, _rows: Tensor | None) -> dict[str, View]:
    views_of = pair_views if run.spec.inputs == "pairs" else text_views
    return views_of(run.model, run.preprocessor, split)


def _tag_views(run: Measured, split: Split, rows: Tensor | None) -> dict[str, View]:
    names = run.spec.class_names
    return tag_views(split, _predictor(run), names, is_sample=rows is not None)


_BY_TARGET = {
    "class": _class_views,
    "labels": _label_views,
    "real": _real_views,
    "mask": _mask_views,
    "tokens": _token_views,
    "tags": _tag_views,
}


def _target_views(data: Data) -> dict[str, View]:
    """How the targets are spread over the splits."""
    targets = {name: split.targets.cpu() for name, split in data.splits()}
    if data.spec.target in {"class", "labels"}:
        return {"class-balance": measure_class_balance(targets, data.spec.class_names)}
    if data.spec.target == "real":
        return {"target-spread": measure_target_spread(targets, data.spec.target_names)}
    return {}


def _predictor(run: Measured) -> Callable[[Tensor], Tensor]:
    """Encoded inputs -> probabilities or reals, on the CPU."""
    device = device_of(run.model)
    return lambda inputs: predict(run.model, inputs.to(device), run.task)
