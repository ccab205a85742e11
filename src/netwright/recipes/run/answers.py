"""What a model says, in the words of its data: labels, reals, masks, boxes, tags or texts.

Shapes: N rows, C classes, Q queries, K reals, I rows and J columns of a mask, T tokens.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.core.geometry.boxes import to_corners
from netwright.data.dataset import Split
from netwright.data.preprocessing import Preprocessor
from netwright.data.spec import ClassType, DataSpec, TargetKind
from netwright.data.tables.cells import shortened
from netwright.data.tables.frames import is_pandas_frame, is_polars_frame
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.spans.span_encoder import SpanEncoder
from netwright.data.text.tag_encoder import TagEncoder
from netwright.metrics.labels import THRESHOLD, is_yes
from netwright.train.tasks.task import Task

PREDICTED: Mapping[TargetKind, str] = {
    "real": "reals",
    "mask": "masks",
    "boxes": "boxes",
    "tags": "tags",
    "span": "spans",
    "tokens": "texts",
    "none": "what the module puts out",
}

WHOLE_NUMBER = re.compile("0|-?[1-9][0-9]{0,17}")  # as Python writes it; no longer than int64


def check_measured(task: Task) -> None:
    """Refuse to ask a model that says nothing of inputs, as a pair of networks does not."""
    if task.unmeasured:
        raise ConfigError(f"this run makes no predictions: {task.unmeasured}")


def check_asked(spec: DataSpec, *, threshold: float | None = None, proba: bool = False) -> None:
    """Refuse a question that a run on such data has no answer to.

    Args:
        spec: of the data that was learned from.
        threshold: the probability that decides, if it is given.
        proba: whether probabilities are asked for; masks have them too.
    """
    if spec.inputs == "parts" and spec.target == "tokens":
        raise ConfigError(
            "a language model has no label to predict: call run.model with a batch for its logits"
        )
    if spec.inputs == "masked":
        raise ConfigError(
            "a run of pre-training has nothing to predict: fine-tune it with "
            "`netwright train bert DATA --from RUN`"
        )
    if spec.inputs == "tokens" and spec.target == "tokens":
        raise ConfigError(
            "a language model has no label to predict: use `netwright generate RUN PROMPT`, or "
            "run.generate, to continue a text"
        )
    predicted = PREDICTED.get(spec.target)
    if threshold is not None:
        if predicted:
            raise ConfigError(f"threshold is for classes and labels, this run predicts {predicted}")
        if spec.target == "class" and spec.num_outputs != 2:
            raise ConfigError(f"threshold is for 2 classes, this run has {spec.num_outputs}")
        if not 0 <= threshold <= 1:
            raise ConfigError(f"threshold must lie in [0, 1], got {threshold}")
    if proba and predicted and spec.target != "mask":
        raise ConfigError(
            f"probabilities are for classes and labels, this run predicts {predicted}"
        )


def check_is_file(source: Any) -> None:
    """Refuse a text, of several words, where a path, or texts in a list, are wanted."""
    if isinstance(source, str) and " " in source and not os.path.exists(source):
        raise DataError(f"{shortened(source)}: there is no such file; pass texts as a list")


def examples_word(spec: DataSpec) -> str:
    """What examples are called: rows, or windows where they are cut from one long text."""
    is_corpus = spec.inputs == "tokens" and spec.target == "tokens"
    return "windows" if is_corpus else "rows"


def check_paired(split: Split) -> None:
    """Refuse inputs and targets, encoded each by itself, that are not of the same examples."""
    if len(split.targets) != len(split):
        raise DataError(f"there are {len(split)} inputs but {len(split.targets)} targets")


def in_words(
    values: Tensor,
    source: Any,
    spec: DataSpec,
    preprocessor: Preprocessor,
    *,
    threshold: float | None = None,
) -> Any:
    """Predictions as a person reads them, in the form of what they were asked of.

    Args:
        values: what the model says, see `Run.predictions`.
        source: the raw inputs.
        spec: of the data that was learned from.
        preprocessor: encoded the inputs.
        threshold: of one probability, above which it is a yes; see `check_asked`.
    """
    if isinstance(preprocessor, TagEncoder):
        return preprocessor.write(values.argmax(dim=2), source)
    if isinstance(preprocessor, PairEncoder | SpanEncoder):
        texts = (
            preprocessor.write(values, source)
            if isinstance(preprocessor, SpanEncoder)
            else preprocessor.write(values[:, 1])
        )
        return like(source, np.array(texts, dtype=object), spec.target_names)
    if spec.target in {"mask", "boxes", "tags", "span", "none"}:
        return _many_each(values, spec)
    if spec.target == "class":
        chosen = (
            values.argmax(dim=1) if threshold is None else is_yes(values[:, 1], threshold).long()
        )
        labels = class_labels(spec.output_names, spec.class_type)[chosen.numpy()]
        return like(source, labels, [*spec.target_names, "prediction"][:1])
    if spec.target == "labels":
        said = is_yes(values, THRESHOLD if threshold is None else threshold)
        return like(source, said.long().numpy(), spec.output_names)
    reals = values.numpy()
    return like(source, reals[:, 0] if reals.shape[1] == 1 else reals, spec.target_names)


def _many_each(values: Tensor, spec: DataSpec) -> NDArray[Any]:
    """Classes of pixels (N, I, J), objects (N,), tags (N, T), or the outputs as they are."""
    if spec.target == "boxes":
        return objects_said(values, spec.class_names)
    if spec.target == "mask":
        return values.argmax(dim=1).byte().numpy()
    if spec.target == "tags":
        chosen = values.argmax(dim=2).numpy()
        return np.take(class_labels(spec.class_names, spec.class_type), chosen)
    return values.numpy()


def objects_said(values: Tensor, names: Sequence[str]) -> NDArray[Any]:
    """What is found in each image, a list of objects each (N,), from left to right.

    An object is its class, how probable that is, and its box: left, top, right and bottom, as
    shares of the image's width and height.

    Args:
        values: probabilities of C classes and of nothing, and a box, of each query (N, Q, C + 5).
        names: of the classes.
    """
    said = np.empty(len(values), dtype=object)
    for place, queries in enumerate(values):
        shares, classes = queries[:, :-4].max(dim=1)
        found = [
            {
                "class": names[kind],
                "probability": round(share, 4),
                "box": [round(min(max(side, 0.0), 1.0), 4) for side in box],
            }
            for kind, share, box in zip(
                classes.tolist(),
                shares.tolist(),
                to_corners(queries[:, -4:]).tolist(),
                strict=True,
            )
            if kind < len(names)
        ]
        said[place] = sorted(found, key=lambda one: one["box"])
    return said


def class_labels(names: Sequence[str], class_type: ClassType = "") -> NDArray[Any]:
    """Class names as the labels that they were.

    A file of text does not say: there whole numbers are numbers, True and False are booleans, as
    pandas reads them too, if all classes are so and written in no other way.
    """
    kind = class_type or _read_type(names)
    try:
        match kind:
            case "bool":
                return np.array([name == "True" for name in names])
            case "int":
                return np.array([int(name) for name in names])
            case "float":
                return np.array([float(name) for name in names])
            case _:
                return np.array(names, dtype=object)
    except ValueError:  # the names and their type came from a file of somebody else
        raise DataError(f"the class names are declared to be of type {kind}, but are not") from None


def _read_type(names: Sequence[str]) -> ClassType:
    if set(names) == {"False", "True"}:
        return "bool"
    return "int" if all(map(WHOLE_NUMBER.fullmatch, names)) else "text"


def like(source: Any, values: NDArray[Any], names: Sequence[str]) -> Any:
    """Arrays for arrays; for a frame a series or frame, of pandas with its index.

    Args:
        source: what was asked of.
        values: the answers (N, ...).
        names: what a series, or the columns of a frame, are called.
    """
    if is_polars_frame(source):
        columns = values[:, None] if values.ndim == 1 else values
        named = list(names) or ["prediction"]
        said = type(source)({one: columns[:, place] for place, one in enumerate(named)})
        return said.to_series() if values.ndim == 1 else said
    if not is_pandas_frame(source):
        return values
    import pandas  # noqa: PLC0415 - optional, and here anyhow: the caller has a frame of it

    index = source.index[len(source) - len(values) :]  # of a series, the rows that have a past
    if values.ndim == 1:
        return pandas.Series(values, index=index, name=names[0] if names else None)
    return pandas.DataFrame(values, index=index, columns=list(names))
