"""The table of metrics: what it holds, all in one call, and the laws that every metric keeps."""

import math
import re
from typing import Any, cast

import pytest
import torch
from torch import Tensor

from netwright.core.errors import DataError, UnknownNameError
from netwright.metrics.catalog import METRICS, Kind, find_metric, measure_all, metrics_for
from netwright.metrics.probability import top_k_accuracy
from tests.repetition import for_each

KINDS: tuple[Kind, ...] = ("class", "labels", "real", "mask", "boxes", "tokens", "tags", "span")
ROWS = [(metric.name, kind) for metric in METRICS.values() for kind in metric.targets]
OF_REALS = [(name, kind) for name, kind in ROWS if kind != "span"]  # places are whole numbers
CLASS_NAMES = [
    "accuracy",
    "balanced_accuracy",
    "precision",
    "recall",
    "f1",
    "roc_auc",
    "average_precision",
    "log_loss",
    "brier",
]


def samples(kind: Kind, num_samples: int = 24, columns: int = 7) -> tuple[Tensor, Tensor]:
    """Predictions and targets of a kind, (N, 7) with every class or label present."""
    seed = torch.Generator().manual_seed(3)
    if kind in {"mask", "boxes"}:
        return _of_images(kind, num_samples, seed)
    if kind in {"tokens", "tags"}:
        targets = torch.randint(0, columns, (num_samples, 3), generator=seed)
        scores = torch.randn(num_samples, 3, columns, generator=seed) + 1.5 * torch.eye(7)[targets]
        targets[::4, 2] = -100  # mostly right, and a few do not count
        return scores.softmax(dim=2), targets
    if kind == "span":
        answers = torch.randint(0, columns, (num_samples, 2, 2), generator=seed).sort(dim=2).values
        answers[::4, 1] = -100
        said = answers[:, 0].clone()
        said[::3, 1] += 1  # mostly right
        return said, answers
    scores = torch.randn(num_samples, columns, generator=seed)
    if kind == "class":
        return scores.softmax(dim=1), torch.arange(num_samples) % columns
    if kind == "labels":
        labels = torch.randint(0, 2, (num_samples, columns), generator=seed)
        return (scores + 2.4 * labels - 1.2).sigmoid(), labels  # mostly right, so that sets are too
    return scores, scores + torch.randn(num_samples, columns, generator=seed)


def _of_images(kind: Kind, num_samples: int, seed: torch.Generator) -> tuple[Tensor, Tensor]:
    """Masks of four classes; or three boxes of as many, mostly right, of which some are none."""
    if kind == "mask":
        scores = torch.randn(num_samples, 4, 3, 5, generator=seed)
        targets = torch.randint(0, 4, (num_samples, 3, 5), generator=seed)
        return scores.softmax(dim=1), targets
    classes = torch.randint(0, 3, (num_samples, 3), generator=seed)
    boxes = torch.rand(num_samples, 3, 4, generator=seed) * 0.2 + 0.4
    scores = torch.randn(num_samples, 3, 4, generator=seed) + 3 * torch.eye(4)[classes]
    classes[::4, 1] = -1
    said = torch.cat((scores.softmax(dim=2), boxes + 0.02), dim=2)
    return said, torch.cat((classes[..., None].float(), boxes), dim=2)


def perfect(kind: Kind) -> tuple[Tensor, Tensor]:
    """Predictions that are the truth."""
    _, targets = samples(kind)
    if kind == "class":
        return torch.eye(7)[targets], targets
    if kind == "mask":
        return torch.eye(4)[targets].movedim(-1, 1), targets
    if kind in {"tokens", "tags"}:
        return torch.eye(7)[targets.clamp_min(0)], targets
    if kind == "span":
        return targets[:, 0], targets
    if kind == "boxes":
        return torch.cat((torch.eye(4)[targets[..., 0].long()], targets[..., 1:]), dim=2), targets
    return targets.float(), targets


def measure(name: str, kind: Kind, *arguments: Tensor | None) -> float:
    return METRICS[name].measures[kind](*cast(Any, arguments))


def test_no_value_is_beyond_its_bounds() -> None:
    for name, kind in ROWS:
        least, most = METRICS[name].bounds
        for predictions, targets in (samples(kind), perfect(kind)):
            assert least <= measure(name, kind, predictions, targets, None) <= most
    bounds = {METRICS[name].bounds for name in ("accuracy", "f1", "roc_auc")}
    assert bounds == {(0.0, 1.0)}
    assert METRICS["rmse"].bounds == (0.0, math.inf)
    assert METRICS["r2"].bounds == (-math.inf, 1.0)
    assert METRICS["perplexity"].bounds == (1.0, math.inf)


def test_kinds_and_names() -> None:
    names = {kind: [metric.name for metric in metrics_for(kind)] for kind in KINDS}
    assert names["class"] == [*CLASS_NAMES, "top_5_accuracy"]
    assert names["labels"] == [
        "accuracy",
        "subset_accuracy",
        "f1",
        "roc_auc",
        "average_precision",
        "log_loss",
        "brier",
    ]
    assert names["real"] == ["rmse", "mae", "r2"]
    assert names["mask"] == ["dice", "mean_iou", "pixel_accuracy"]
    assert names["boxes"] == ["mean_box_iou", "box_f1"]
    assert names["tokens"] == ["accuracy", "perplexity", "bits_per_token"]
    assert names["tags"] == ["accuracy", "sequence_accuracy", "f1"]
    assert names["span"] == ["exact_match", "span_f1"]


def test_losses_are_better_lower_and_shares_higher() -> None:
    lower = {name for name, metric in METRICS.items() if metric.better == "lower"}
    assert lower == {"log_loss", "brier", "rmse", "mae", "perplexity", "bits_per_token"}


def test_the_table_cannot_be_written_to() -> None:
    with pytest.raises(TypeError):
        METRICS["mine"] = METRICS["f1"]  # type: ignore[index]


@for_each("kind", KINDS)
def test_all_metrics_in_one_call_are_each_by_itself(kind: Kind) -> None:
    predictions, targets = samples(kind)
    weights = torch.rand(len(targets), generator=torch.Generator().manual_seed(0)) + 0.5
    for amounts in (None, weights):
        values = measure_all(kind, predictions, targets, amounts)
        assert list(values) == [metric.name for metric in metrics_for(kind)]
        for name, value in values.items():
            assert value == measure(name, kind, predictions, targets, amounts)


def test_class_metrics_by_hand() -> None:
    # Class 1 gets 3/4, 1/4, 3/4, 1/4 and 1/4; the truth is 1, 0, 0, 1 and 1: of three positives one
    # is found, and one negative is called positive.
    positive = torch.tensor([0.75, 0.25, 0.75, 0.25, 0.25])
    values = measure_all(
        "class", torch.stack((1 - positive, positive), dim=1), torch.tensor([1, 0, 0, 1, 1])
    )
    by_hand = {
        "accuracy": 2 / 5,
        "balanced_accuracy": (1 / 2 + 1 / 3) / 2,
        "precision": 1 / 2,
        "recall": 1 / 3,
        "f1": 2 / (2 + 3),
        "roc_auc": (1 + 1 / 2 + 1 / 2 + 1 / 2) / 6,  # one pair won, three tied, two lost
        "average_precision": (1 / 2 + 3 / 5 + 3 / 5) / 3,
        "log_loss": -(2 * math.log(0.75) + 3 * math.log(0.25)) / 5,
        "brier": (2 * 1 / 16 + 3 * 9 / 16) / 5,
    }
    assert values == pytest.approx(by_hand)
    assert list(values) == list(by_hand)


@pytest.mark.parametrize(("columns", "there"), [(5, False), (6, True)])
def test_top_5_is_there_for_more_than_five_classes(columns: int, there: bool) -> None:
    predictions, targets = samples("class", columns=columns)
    values = measure_all("class", predictions, targets)
    assert ("top_5_accuracy" in values) == there
    if there:
        assert values["top_5_accuracy"] == top_k_accuracy(predictions, targets, 5) < 1


def test_what_has_no_value_is_left_out() -> None:
    alone = measure_all("class", torch.full((3, 2), 0.5), torch.zeros(3, dtype=torch.int64))
    assert set(CLASS_NAMES) - set(alone) == {"roc_auc", "average_precision"}
    assert "r2" not in measure_all("real", torch.ones(1, 1), torch.ones(1, 1))


@for_each(("name", "kind"), ROWS)
def test_a_perfect_prediction_has_the_best_value(name: str, kind: Kind) -> None:
    is_share = METRICS[name].better == "higher"
    best = 1.0 if is_share else METRICS[name].least
    value = measure(name, kind, *perfect(kind), None)
    assert value == pytest.approx(best, abs=1e-12)
    others = measure(name, kind, *samples(kind), None)
    assert others < value if is_share else others > value


@for_each(("name", "kind"), ROWS)
def test_a_weight_is_how_many_times_a_sample_is_there(name: str, kind: Kind) -> None:
    predictions, targets = samples(kind)
    times = torch.arange(len(targets)) % 3  # 0, 1, 2, 0, ...
    repeated = measure(
        name,
        kind,
        predictions.repeat_interleave(times, dim=0),
        targets.repeat_interleave(times, dim=0),
        None,
    )
    weighted = measure(name, kind, predictions, targets, times.float())
    assert weighted == pytest.approx(repeated, abs=1e-12)
    assert weighted != pytest.approx(measure(name, kind, predictions, targets, None), abs=1e-6)


@for_each(("name", "kind"), ROWS)
def test_the_order_and_the_scale_of_weights_do_not_matter(name: str, kind: Kind) -> None:
    predictions, targets = samples(kind)
    seed = torch.Generator().manual_seed(1)
    weights = torch.rand(len(targets), generator=seed)
    order = torch.randperm(len(targets), generator=seed)
    value = measure(name, kind, predictions, targets, weights)
    shuffled = measure(name, kind, predictions[order], targets[order], 8 * weights[order])
    assert shuffled == pytest.approx(value, abs=1e-12)


@for_each(("name", "kind"), OF_REALS)
def test_inputs_stay_as_they_were_and_may_need_gradients(name: str, kind: Kind) -> None:
    predictions, targets = samples(kind)
    leaf = predictions.clone().requires_grad_()
    value = measure(name, kind, leaf, targets, None)
    assert value == measure(name, kind, predictions, targets, None)
    assert torch.equal(leaf, predictions)
    assert torch.equal(targets, samples(kind)[1])


@for_each(("name", "kind"), OF_REALS)
def test_a_model_that_fell_apart_is_refused_and_not_left_out(name: str, kind: Kind) -> None:
    predictions, targets = samples(kind)
    predictions[4, 2].reshape(-1)[0] = float("nan")
    sentence = "must be finite, got nan at [4, 2"
    with pytest.raises(DataError, match=re.escape(sentence) + r".*\(1 in all\)"):
        measure(name, kind, predictions, targets, None)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("kind", KINDS)
def test_a_gpu_gives_what_the_cpu_gives(kind: Kind) -> None:
    predictions, targets = samples(kind, num_samples=700)
    weights = torch.arange(700) % 5 + 0.5
    for amounts in (None, weights):
        there = [None if part is None else part.cuda() for part in (predictions, targets, amounts)]
        on_gpu = measure_all(kind, *cast(Any, there))
        assert on_gpu == pytest.approx(measure_all(kind, predictions, targets, amounts), abs=1e-12)


def test_find_metric_gives_the_row_or_the_nearest_name() -> None:
    assert find_metric("f1") is METRICS["f1"]
    near = "unknown metric 'acuracy'; did you mean 'accuracy'?"
    with pytest.raises(UnknownNameError, match=f"^{re.escape(near)}$"):
        find_metric("acuracy")
    sentence = f"unknown metric 'zzz'; there are {', '.join(METRICS)}"
    with pytest.raises(UnknownNameError, match=f"^{sentence}$"):
        find_metric("zzz")


def test_a_kind_that_is_not_there_is_refused() -> None:
    sentence = (
        "kind of target must be one of class, labels, real, mask, boxes, tokens, tags, span, "
        "got 'box'"
    )
    with pytest.raises(UnknownNameError, match=f"^{sentence}$"):
        measure_all(cast(Kind, "box"), torch.ones(2, 2), torch.ones(2, 2))
