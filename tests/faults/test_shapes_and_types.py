"""T29: tensors of any shape, dtype and content into every metric, loss and layer.

Two thousand drawn tuples each, a quarter of them with the tests. Wanted: the right number, or a
refusal of ours; never torch's own error, never a NaN that does not mean "no value on this data",
never a silent broadcast.

Metrics are called by themselves. Losses and layers are ordinary torch below the door: they are
reached as a caller reaches them, as a model of one's own on its first batch.

Shapes: N examples, C classes, K labels or reals; masks (N, I, J); tokens and tags (N, T).
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.random import RandomState
from torch import Tensor, nn

import netwright as nw
from netwright.data.dataset import Data
from netwright.layers.activations import ACTIVATIONS, build_activation
from netwright.layers.residual import Residual
from netwright.metrics import labels, regression
from netwright.metrics.catalog import METRICS, Kind
from netwright.recipes.fitting.first_batch import try_first_batch
from netwright.train.tasks.catalog import task_for
from tests.faults.scenario import Figures, Scenario

DRAWS = 2000
DTYPES = (
    *(torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32),
    *(torch.uint8, torch.bool, torch.complex64),
)
# What may be NaN on good data: one class alone, one sample, no more classes than answers.
MAY_HAVE_NO_VALUE = {"roc_auc", "average_precision", "r2", "top_5_accuracy"}
IN_UNIT_INTERVAL = {"accuracy", "subset_accuracy", "balanced_accuracy", "precision", "recall", "f1"}
IN_UNIT_INTERVAL |= {"roc_auc", "average_precision", "top_5_accuracy"}
IN_UNIT_INTERVAL |= {"dice", "mean_iou", "pixel_accuracy", "sequence_accuracy"}
IN_UNIT_INTERVAL |= {"exact_match", "span_f1"}


Samples = tuple[Tensor, Tensor, Tensor | None]  # predictions, targets, weights


def drawn_shape(draw: RandomState) -> tuple[int, ...]:
    return tuple(int(size) for size in draw.randint(0, 5, size=draw.randint(0, 4)))


def drawn_tensor(draw: RandomState) -> Tensor:
    """Any shape, any dtype, and sometimes NaN or infinity."""
    values = torch.tensor(draw.randn(*drawn_shape(draw)) * 3)
    if values.numel() and draw.rand() < 0.2:
        values.view(-1)[0] = draw.choice([math.nan, math.inf, -math.inf])
        return values
    return values.to(DTYPES[draw.randint(len(DTYPES))])


def good_samples(kind: Kind, draw: RandomState) -> tuple[Tensor, Tensor]:
    """Predictions and targets that belong together."""
    rows, width = draw.randint(1, 6), draw.randint(1, 8)
    dtype = (torch.float32, torch.float64, torch.float16)[draw.randint(3)]
    if kind in {"span", "boxes"}:
        return good_spans(draw, rows, width) if kind == "span" else good_boxes(draw, rows, width)
    if kind == "class":
        chances = torch.tensor(draw.rand(rows, width)) + 1e-3
        targets = torch.tensor(draw.randint(0, width, size=rows))
        return (chances / chances.sum(dim=1, keepdim=True)).to(dtype), targets
    if kind == "labels":
        chances = torch.tensor(draw.rand(rows, width)).to(dtype)
        return chances, torch.tensor(draw.randint(0, 2, size=(rows, width))).float()
    if kind == "mask":
        chances = torch.tensor(draw.rand(rows, width, 3, 2)) + 1e-3
        targets = torch.tensor(draw.randint(0, width, size=(rows, 3, 2)))
        said = (chances / chances.sum(dim=1, keepdim=True)).to(dtype)
        return said, targets.to(torch.uint8 if draw.rand() < 0.5 else torch.int64)
    if kind in {"tokens", "tags"}:
        chances = torch.tensor(draw.rand(rows, 3, width)) + 1e-3
        targets = torch.tensor(draw.randint(0, width, size=(rows, 3)))
        targets[torch.tensor(draw.rand(rows, 3)) < 0.2] = -100
        targets[0, 0] = 0  # one counts
        return (chances / chances.sum(dim=2, keepdim=True)).to(dtype), targets
    shape = (rows,) if draw.rand() < 0.5 else (rows, width)
    return torch.tensor(draw.randn(*shape)).to(dtype), torch.tensor(draw.randn(*shape))


def good_spans(draw: RandomState, rows: int, width: int) -> tuple[Tensor, Tensor]:
    answers = torch.tensor(draw.randint(0, 9, size=(rows, width, 2))).sort(dim=2).values
    answers[torch.tensor(draw.rand(rows, width)) < 0.2] = -100  # fewer answers than others have
    return torch.tensor(draw.randint(0, 9, size=(rows, 2))).sort(dim=1).values, answers


def good_boxes(draw: RandomState, rows: int, width: int) -> tuple[Tensor, Tensor]:
    chances = torch.tensor(draw.rand(rows, width, 3)).softmax(dim=2)
    said = torch.cat((chances, torch.tensor(draw.rand(rows, width, 4)) + 0.01), dim=2)
    classes = torch.tensor(draw.randint(-1, 2, size=(rows, 4, 1))).double()
    classes[0, 0] = 0  # one object is there
    return said, torch.cat((classes, torch.tensor(draw.rand(rows, 4, 4)) + 0.01), dim=2)


def drawn_samples(kind: Kind, draw: RandomState) -> Samples:
    """Samples of which half are good, and of the others one part, or all, is anything."""
    predictions, targets = good_samples(kind, draw)
    rows = len(predictions)
    weights = None if draw.rand() < 0.6 else torch.tensor(draw.rand(rows) + 0.1)
    wrong = draw.randint(8) if draw.rand() < 0.5 else -1
    if wrong in {0, 6}:
        predictions = drawn_tensor(draw)
    if wrong in {1, 6}:
        targets = drawn_tensor(draw)
    if wrong in {2, 6}:
        weights = drawn_tensor(draw)
    if wrong == 3:
        weights = torch.zeros(rows)
    if wrong == 4:
        predictions = predictions.unsqueeze(-1)  # (N, 1) beside (N,)
    if wrong == 5:
        targets = targets.unsqueeze(-1)
    if wrong == 7:
        predictions, targets = predictions[:0], targets[:0]
    return predictions, targets, weights


@cache
def all_samples(kind: Kind, count: int) -> list[Samples]:
    """The same draws for every metric of a kind."""
    draw = RandomState(0)
    return [drawn_samples(kind, draw) for _ in range(count)]


def reference(name: str, kind: Kind, parts: Samples) -> float | None:
    """The metric by numpy, where its formula is a line."""
    predictions, targets = (part.double().numpy() for part in parts[:2])
    weights = np.ones(len(targets)) if parts[2] is None else parts[2].double().numpy()
    if kind != "labels" and name == "accuracy":
        right = parts[0].argmax(dim=-1).numpy() == targets
        each = weights if kind == "class" else weights[:, None] * (targets >= 0)
        return float(np.average(right, weights=each))
    if kind == "class" and name == "log_loss":
        chosen = predictions[np.arange(len(targets)), targets.astype(int)]
        return float(np.average(-np.log(np.clip(chosen, 1e-12, None)), weights=weights))
    if name == "perplexity":
        counts = weights[:, None] * (targets >= 0)
        places = np.maximum(targets, 0).astype(int)[:, :, None]
        chosen = np.take_along_axis(predictions, places, axis=2)[:, :, 0]
        return float(np.exp(np.average(-np.log(chosen), weights=counts)))
    errors = (predictions - targets).reshape(len(targets), -1) if kind == "real" else None
    if errors is not None and name == "mae":
        return float(np.average(np.abs(errors), axis=0, weights=weights).mean())
    if errors is not None and name == "rmse":
        return float(np.sqrt(np.average(errors**2, axis=0, weights=weights)).mean())
    return None


def outcome_of_metric(name: str, kind: Kind, parts: Samples) -> str:
    """What a metric makes of one drawn tuple: refused, right, no value, or what went wrong."""
    try:
        value = METRICS[name].measures[kind](*parts)
    except nw.NetwrightError:
        return "refused"
    except Exception as error:
        return f"raw {type(error).__name__}"
    if math.isnan(value):
        return "no value" if name in MAY_HAVE_NO_VALUE else "silent NaN"
    if kind == "real" and parts[0].shape != parts[1].shape:
        return "wrong"  # a (N, 1) beside a (N,) is compared all with all
    wanted = reference(name, kind, parts)
    wrong = wanted is not None and not math.isclose(value, wanted, rel_tol=1e-6, abs_tol=1e-9)
    outside = name in IN_UNIT_INTERVAL and not -1e-9 <= value <= 1 + 1e-9
    return "wrong" if wrong or outside else "right"


class Answers(nn.Module):
    """A model of one's own that answers with whatever it was given."""

    def __init__(self, answer: Tensor) -> None:
        super().__init__()
        self.answer = answer

    def forward(self, x: Tensor) -> Tensor:
        return self.answer


ROWS = 6
INPUTS = np.random.RandomState(0).randn(40, 3).astype(np.float32)
DATA: dict[Kind, Data] = {
    "class": nw.data.from_arrays(INPUTS, np.arange(40) % 3),
    "labels": nw.data.from_arrays(INPUTS, (INPUTS > 0).astype(int)),
    "real": nw.data.from_arrays(INPUTS, INPUTS[:, :1] * 2.0),
}


def outcome_of_first_batch(model: nn.Module, data: Data) -> str:
    """What becomes of a model on its first batch."""
    try:
        loss = try_first_batch(model, data, task_for(data), ROWS).loss
    except nw.NetwrightError:
        return "refused"
    except Exception as error:
        return f"raw {type(error).__name__}"
    return "right" if math.isfinite(loss) else "not finite"


def outcome_of_loss(kind: Kind, draw: RandomState) -> str:
    """An output of any dtype, half of them of the right shape, against good targets."""
    wanted = (ROWS, DATA[kind].spec.num_outputs)
    answer = drawn_tensor(draw)
    if draw.rand() < 0.5:
        answer = torch.tensor(draw.randn(*wanted)).to(DTYPES[draw.randint(len(DTYPES))])
    outcome = outcome_of_first_batch(Answers(answer), DATA[kind])
    return "wrong" if outcome == "right" and answer.shape != wanted else outcome


def outcome_of_layer(build: Callable[[int], nn.Module], draw: RandomState) -> str:
    """A layer before a linear map, on inputs of a drawn shape and dtype."""
    data, width = DATA["class"], draw.randint(1, 5)
    shape: tuple[int, ...] = (len(data.train), draw.randint(1, 5))
    if draw.rand() < 0.2:
        shape = (len(data.train), *drawn_shape(draw))
    inputs = torch.tensor(draw.randn(*shape), dtype=torch.float32)
    if draw.rand() < 0.2:
        inputs = inputs.to(DTYPES[draw.randint(len(DTYPES))])
    model = nn.Sequential(build(width), nn.Linear(width, data.spec.num_outputs))
    return outcome_of_first_batch(model, replace(data, train=replace(data.train, inputs=inputs)))


def residual(width: int) -> nn.Module:
    return Residual(nn.Linear(3, width), 3, width)


def any_activation(width: int) -> nn.Module:
    return build_activation(list(ACTIVATIONS)[width])


DRAWN: dict[str, Callable[[RandomState], str]] = {
    **{f"loss of {kind}": partial(outcome_of_loss, kind) for kind in DATA},
    "residual layer": partial(outcome_of_layer, residual),
    "activations": partial(outcome_of_layer, any_activation),
}
HELD = ("right", "refused", "no value")


def outcomes(count: int) -> dict[str, Counter[str]]:
    """What became of `count` draws, for every metric, loss and layer."""
    found = {
        f"{name} of {kind}": Counter(
            outcome_of_metric(name, kind, parts) for parts in all_samples(kind, count)
        )
        for name, metric in METRICS.items()
        for kind in metric.targets
    }
    for name, outcome in DRAWN.items():
        draw = RandomState(0)
        found[name] = Counter(outcome(draw) for _ in range(count))
    return found


def measure(folder: Path, draws: int) -> Figures:
    found = outcomes(draws)
    every: Counter[str] = sum(found.values(), Counter())
    return Figures(
        n=every.total(),
        passed=sum(every[name] for name in HELD),
        counts={
            "functions": len(found),
            "least right of one": min(one["right"] for one in found.values()),
            "least refused of one": min(one["refused"] for one in found.values()),
            "raw errors": sum(n for name, n in every.items() if name.startswith("raw")),
            "silent NaN": every["silent NaN"] + every["not finite"],
            "wrong": every["wrong"],
        },
    )


def scenario(draws: int) -> Scenario:
    return Scenario(
        code="T29",
        title="tensors of any shape and dtype",
        measure=partial(measure, draws=draws),
        least={
            "functions": 25,
            "least right of one": 0.1 * draws,
            "least refused of one": 0.1 * draws,
        },
    )


SCENARIO = scenario(DRAWS)


@pytest.mark.parametrize("draws", [DRAWS // 20, pytest.param(DRAWS // 4, marks=pytest.mark.slow)])
def test_any_tensor_gives_the_right_number_or_a_refusal(tmp_path: Path, draws: int) -> None:
    part = scenario(draws)
    figures = part.measure(tmp_path)
    assert part.is_green(figures), figures
    assert figures.n == draws * figures.counts["functions"]


@pytest.mark.slow
def test_planted_bug_of_samples_that_nobody_checks_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unchecked(name: str, scores: Tensor, targets: Tensor, weights: Tensor | None) -> None:
        pass

    monkeypatch.setattr(labels, "check_label_samples", unchecked)
    counts = measure(tmp_path, draws=50).counts
    assert min(counts["raw errors"], counts["silent NaN"]) > 0


@pytest.mark.slow
def test_planted_bug_of_a_silent_broadcast_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = regression._exact_pair

    def broadcast(
        predicted: Tensor, targets: Tensor, weights: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        if predicted.ndim == 1 and targets.shape == (*predicted.shape, 1):
            square = (len(targets), len(targets))
            predicted, targets = predicted.expand(square), targets.expand(square)
        return strict(predicted, targets, weights)

    monkeypatch.setattr(regression, "_exact_pair", broadcast)
    assert measure(tmp_path, draws=50).counts["wrong"] > 0
