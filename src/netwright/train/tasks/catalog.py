"""Which task goes with which kind of target, and how a task is built again from a run folder."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from netwright.core.checks import is_finite_number, nearest
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data
from netwright.losses.normal_scores import NormalScores, check_scores
from netwright.losses.smoothing import as_torch_smoothing
from netwright.losses.target_transform import QUANTILE, TRANSFORMS
from netwright.metrics.isotonic import RisingCurve
from netwright.train.settings import TrainConfig
from netwright.train.tasks.classification import Classification, balanced_weights
from netwright.train.tasks.detection import Detection
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.tasks.masked_tokens import MaskedTokens
from netwright.train.tasks.multi_label import MultiLabel
from netwright.train.tasks.next_token import NextToken
from netwright.train.tasks.per_token import PerToken
from netwright.train.tasks.regression import Regression, check_in_range
from netwright.train.tasks.segmentation import Segmentation
from netwright.train.tasks.sequence_to_sequence import SequenceToSequence
from netwright.train.tasks.spans import Spans
from netwright.train.tasks.tagging import Tagging
from netwright.train.tasks.task import Task
from netwright.train.tasks.unlabelled import Unlabelled

PER_TOKEN: dict[str | None, type[PerToken]] = {
    of_kind.kind: of_kind
    for of_kind in (LanguageModelling, NextToken, Tagging, SequenceToSequence, MaskedTokens)
}


def task_for(data: Data, config: TrainConfig | None = None, *, scale_targets: bool = True) -> Task:
    """The task that the data's targets ask for.

    Args:
        data: what is to be learned.
        config: its loss, smoothing and weights; None takes what suits the target.
        scale_targets: standardise real targets while training.
    """
    config = config or TrainConfig()
    kind = data.spec.target
    if kind not in {"class", "mask"} and config.class_weight is not None:
        raise ConfigError(
            f"class_weight is for single-label classification, the target is {kind!r}"
        )
    if kind not in {"class", "mask", "tokens", "tags"} and config.label_smoothing:
        raise ConfigError(
            f"label_smoothing is for single-label classification, the target is {kind!r}"
        )
    if kind != "real" and config.target_transform is not None:
        raise ConfigError(f"target_transform is for real targets, the target is {kind!r}")
    task = _task(data, config, scale_targets=scale_targets)
    task.aux_weight = config.aux_weight
    return task


def _task(data: Data, config: TrainConfig, *, scale_targets: bool) -> Task:
    kind = data.spec.target
    if kind in {"class", "mask"}:
        return _task_of_classes(data, config)
    if kind in {"tokens", "tags"}:
        return _task_of_tokens(data, config)
    if kind == "labels":
        loss = config.loss or "binary-cross-entropy"
        return MultiLabel(loss=loss, loss_options=config.loss_options)
    if kind == "real":
        return _task_of_reals(data, config, scale_targets=scale_targets)
    return _task_of_one_loss(data, config)


def _task_of_one_loss(data: Data, config: TrainConfig) -> Task:
    """Spans, boxes or nothing, which are learned by no other loss than their own."""
    kind = data.spec.target
    if kind not in {"span", "boxes"}:
        return Unlabelled()
    task = Spans() if kind == "span" else Detection(data.spec.num_outputs)
    if config.loss not in {None, task.loss_name}:
        name = "spans" if kind == "span" else kind
        raise ConfigError(f"{name} are trained by {task.loss_name}, the loss is {config.loss!r}")
    return task


def _task_of_reals(data: Data, config: TrainConfig, *, scale_targets: bool) -> Regression:
    if not scale_targets:
        return Regression.plain(data.spec.num_outputs)
    if config.target_transform is not None:
        check_in_range(data, config.target_transform)
    return Regression.fitted(
        data.train,
        loss=config.loss or "squared-error",
        loss_options=config.loss_options,
        transform=config.target_transform,
    )


def _task_of_classes(data: Data, config: TrainConfig) -> Task:
    classes, loss = data.spec.num_outputs, config.loss or "cross-entropy"
    weights = _class_weights(data, config.class_weight)
    smoothing = as_torch_smoothing(config.label_smoothing, classes, config.smooth_over)
    chosen: dict[str, Any] = {
        "loss": loss,
        "smoothing": smoothing,
        "loss_options": config.loss_options,
    }
    if data.spec.target == "mask":
        return Segmentation(data.spec.class_names, weights, **chosen)
    return Classification(classes, weights, **chosen)


def _class_weights(data: Data, given: str | Mapping[str | int, Any] | None) -> Tensor | None:
    """How much each class counts (C,), by its name in `given` or as often as it is rare."""
    if given is None:
        return None
    names = data.spec.class_names
    if isinstance(given, str):
        return balanced_weights(data.train, len(names))
    weights = {str(name): weight for name, weight in given.items()}
    for name in weights:
        if name not in names:
            hint = nearest(name, names) or f"; there are {', '.join(names[:10])}"
            raise ConfigError(f"class_weight has {name!r}, which is no class of {data.name}{hint}")
    if not any(weights.get(name, 1.0) for name in names):
        raise ConfigError("class_weight must leave a class that counts, all weights are 0")
    return torch.tensor([weights.get(name, 1.0) for name in names])


def _task_of_tokens(data: Data, config: TrainConfig) -> Task:
    classes = data.spec.num_outputs
    of_kind: type[PerToken] = LanguageModelling if data.spec.target == "tokens" else Tagging
    if data.spec.inputs == "pairs":
        of_kind = SequenceToSequence
    elif data.spec.inputs == "masked":
        of_kind = MaskedTokens
    elif data.spec.inputs == "parts" and data.spec.target == "tokens":
        of_kind = NextToken
    return of_kind(
        classes,
        loss=config.loss or "cross-entropy",
        smoothing=as_torch_smoothing(config.label_smoothing, classes, config.smooth_over),
        loss_options=config.loss_options,
    )


def _check_kinds(settings: dict[str, Any]) -> None:
    """Refuse values that no task has written: they would fail only when they are used."""
    for name, value in settings.items():
        if name == "smoothing" and not (is_finite_number(value) and 0 <= value < 1):
            raise DataError(f"the smoothing of a task must lie in [0, 1), got {value!r:.60}")
        if name == "threshold" and not (is_finite_number(value) and 0 <= value <= 1):
            raise DataError(f"the threshold of a task must lie in [0, 1], got {value!r:.60}")
        if name == "temperature" and not (is_finite_number(value) and value > 0):
            raise DataError(f"the temperature of a task must be positive, got {value!r:.60}")
        if name == "loss_options" and not isinstance(value, dict):
            raise DataError(f"the loss_options of a task must be named, got {value!r:.60}")
        if name == "num_classes" and not (type(value) is int and value > 0):
            raise DataError(f"the number of classes of a task must be positive, got {value!r:.60}")
        is_list = isinstance(value, list) and value and all(map(is_finite_number, value))
        if name in {"class_weights", "center", "scale"} and not (value is None or is_list):
            raise DataError(f"the {name} of a task must be numbers, got {value!r:.60}")
    if "threshold" in settings and settings.get("num_classes") != 2:
        raise DataError("a threshold is of a task of two classes")
    weights = settings.get("class_weights")
    classes = settings.get("num_classes", len(settings.get("class_names", ())))
    if weights is not None and len(weights) != classes:
        raise DataError(f"a task of {classes} classes must have as many class_weights")


def _regression(settings: dict[str, Any]) -> Regression:
    center, scale = torch.tensor(settings.pop("center")), torch.tensor(settings.pop("scale"))
    transform = settings.get("transform")
    if transform is not None and transform not in [*TRANSFORMS, QUANTILE]:
        raise ConfigError(f"unknown target_transform {transform!r:.60}")
    if (transform == QUANTILE) != ("normal_scores" in settings):
        raise DataError("normal_scores are of a task with target_transform quantile")
    if transform == QUANTILE:
        settings["normal_scores"] = _normal_scores(settings["normal_scores"], len(center))
    return Regression(center, scale, **settings)


def _normal_scores(given: Any, outputs: int) -> NormalScores:
    """Knots and scores as they were written."""
    try:
        scores = NormalScores(*(torch.tensor(part, dtype=torch.float32) for part in given))
    except (TypeError, ValueError):
        raise DataError(f"normal_scores must be knots and scores, got {given!r:.60}") from None
    check_scores(scores, outputs)
    return scores


def _curves(given: Any, classes: int) -> tuple[RisingCurve, ...]:
    """Curves of probabilities as they were written: of two classes one."""
    are_curves = isinstance(given, list) and all(
        isinstance(one, dict) and one.keys() == {"knots", "values"} for one in given
    )
    if not are_curves or len(given) != (1 if classes == 2 else classes):
        raise DataError(f"a task of {classes} classes cannot have these curves: {given!r:.60}")
    return tuple(RisingCurve(tuple(one["knots"]), tuple(one["values"])) for one in given)


def task_from_json(values: dict[str, Any]) -> Task:
    """The task that `to_json` gave."""
    settings = dict(values)
    kind = settings.pop("kind", None)
    _check_kinds(settings)
    if kind in {"classification", "segmentation"}:
        weights = settings.pop("class_weights")
        if "curves" in settings:
            settings["curves"] = _curves(settings["curves"], settings["num_classes"])
        of_kind = Classification if kind == "classification" else Segmentation
        return of_kind(class_weights=None if weights is None else torch.tensor(weights), **settings)
    if kind in PER_TOKEN:
        return PER_TOKEN[kind](**settings)
    if kind in {"unlabelled", "spans"}:
        return Unlabelled() if kind == "unlabelled" else Spans()
    if kind == "detection":
        return Detection(settings["num_classes"])
    if kind == "multi-label":
        return MultiLabel(**settings)
    if kind == "regression":
        return _regression(settings)
    raise ConfigError(f"unknown task {kind!r}")
