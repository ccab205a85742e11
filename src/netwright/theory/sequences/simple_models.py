r"""On noisy data a simple model does as well as a network.

    series    AR(5), x_t = sum_k a_k x_{t-k} + noise     least squares beside a recurrent network
    words     few of many words matter, y = c . w + noise    the lasso beside a multi-layer network

Where what can be learned is linear, a network can at best find the line, and it has more ways to
learn the noise.

Shapes: N examples, T = 5 steps, V words.
Source: James, Witten, Hastie and Tibshirani, "An Introduction to Statistical Learning" (2021),
section 10.6.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.core.seeding import derive_seed, generator
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data, Split
from netwright.data.spec import DataSpec
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.trained_measures import build_named, trained_measures
from netwright.theory.verdict import Verdict, at_least, equals, estimate

LAGS = (0.5, 0.2, -0.1, 0.1, 0.1)  # of x_{t-1}, x_{t-2}, ...
DOCUMENTS, WORDS, TELLING, RARE = 300, 200, 10, 0.3
NOISE = 1.0  # spread of what no model can know; what one can know of words has spread 1
TESTED = 2000
TRIES = {"quick": 3, "full": 10}
WINDOWS = 2000
SAME = 0.02  # of R2
MODELS: dict[str, dict[str, Any]] = {
    "elman": {"hidden": 8, "dropout": 0.0},
    "mlp": {"hidden": (32,), "dropout": 0.4},
}
TRAINING: dict[str, dict[str, Any]] = {
    "elman": {"lr": 1e-2, "batch_size": 200, "schedule": "cosine", "epochs": 15},
    "mlp": {"lr": 3e-3, "batch_size": 50, "schedule": "cosine", "epochs": 20},
}


@dataclass(frozen=True, kw_only=True)
class SimpleModelsConfig(Config):
    """What there is to learn."""

    linear: Annotated[
        bool,
        Assumption("what can be learned is linear; without it, the next value is bent"),
    ] = True


def draw_series(given: SimpleModelsConfig, length: int, rng: torch.Generator) -> Tensor:
    """A series (length,): autoregressive, or x_t = 4 tanh(x_{t-1})^2 - 2 and noise."""
    noise = NOISE * torch.randn(length, generator=rng)
    values = noise[: len(LAGS)].tolist()
    for extra in noise[len(LAGS) :].tolist():
        past = values[: -len(LAGS) - 1 : -1]
        known = (
            sum(lag * x for lag, x in zip(LAGS, past, strict=True))
            if given.linear
            else 4 * math.tanh(past[0]) ** 2 - 2
        )
        values.append(known + extra)
    return torch.tensor(values)


def series_data(given: SimpleModelsConfig, rng: torch.Generator) -> Data:
    """Five values and the next one, the later part for the test."""
    series = draw_series(given, WINDOWS + TESTED + len(LAGS), rng)
    inputs = series[:-1].unfold(0, len(LAGS), 1)[:, :, None]  # (N, T, 1)
    return _data("series", inputs, series[len(LAGS) :, None], WINDOWS)


def word_data(given: SimpleModelsConfig, rng: torch.Generator) -> Data:
    """Counts of words, and a score to which few of them add."""
    counts = torch.poisson(torch.full((DOCUMENTS + TESTED, WORDS), RARE), generator=rng)
    weights = torch.randn(TELLING, 1, generator=rng)
    weights = weights / (weights.norm() * math.sqrt(RARE))
    known = (counts[:, :TELLING] - RARE) @ weights
    scores = (known if given.linear else known.square()) + NOISE * torch.randn(
        len(counts), 1, generator=rng
    )
    return _data("features", (counts - RARE) / math.sqrt(RARE), scores, DOCUMENTS)


def _data(kind: Any, inputs: Tensor, targets: Tensor, learned: int) -> Data:
    """The first so many examples to learn from; targets have mean 0 and spread 1 there."""
    targets = (targets - targets[:learned].mean()) / targets[:learned].std()
    spec = DataSpec(inputs=kind, input_shape=tuple(inputs.shape[1:]), target="real", num_outputs=1)
    return Data(
        name=kind,
        spec=spec,
        train=Split(inputs=inputs[:learned], targets=targets[:learned]),
        test=Split(inputs=inputs[learned:], targets=targets[learned:]),
        preprocessor=ArrayEncoder(input_shape=spec.input_shape, target="real", num_outputs=1),
    )


def r2_of(name: str, data: Data, seed: int, **settings: Any) -> float:
    """The share of the variance of new targets that a model explains."""
    model = build_named(name, data, seed=seed, **MODELS.get(name, settings))
    error = trained_measures(model, data, seed=seed, train=TRAINING.get(name))["rmse"]
    return 1 - error**2 / float(data.split("test").targets.var(correction=0))


def measure_simple_models(given: SimpleModelsConfig, seed: int, effort: Effort) -> Verdict:
    """Both models on each of several drawn sets."""
    noise = NOISE / math.hypot(1, NOISE)  # of targets that were scaled to spread 1
    penalty = noise * math.sqrt(2 * math.log(WORDS) / DOCUMENTS)
    found: dict[str, list[float]] = {
        name: [] for name in ("least-squares", "elman", "lasso", "mlp")
    }
    for index in range(TRIES[effort]):
        own = derive_seed(seed, "simple-models", index)
        series, words = (draw(given, generator(own, "drawn")) for draw in (series_data, word_data))
        found["least-squares"].append(r2_of("least-squares", series, own))
        found["elman"].append(r2_of("elman", series, own))
        found["lasso"].append(r2_of("lasso", words, own, l1=penalty))
        found["mlp"].append(r2_of("mlp", words, own))

    def lead(simple: str, network: str) -> dict[str, Any]:
        pairs = zip(found[simple], found[network], strict=True)
        return estimate([ours - theirs for ours, theirs in pairs]).as_measured()

    return Verdict(
        findings=(
            equals(
                "R² of least squares less that of the recurrent network",
                0,
                within=SAME,
                **lead("least-squares", "elman"),
            ),
            at_least("R² of the lasso less that of the network", 0, **lead("lasso", "mlp")),
        ),
        chart=_chart(found),
    )


def _chart(found: dict[str, list[float]]) -> ClaimChart:
    """R2 of each model on each set, a network beside what the simple model has."""
    dots = [(place, value) for place, values in enumerate(found.values()) for value in values]
    simple = [sum(found[name]) / len(found[name]) for name in ("least-squares", "lasso")]
    return ClaimChart(
        x_label="",
        y_label="R² on new data",
        series=(
            predicted("at most: the mean of the simple model", (1, 3), simple),
            measured("a drawn set of data", *zip(*dots, strict=True)),
        ),
        explanation="Left a series of which the next value is to be told from five, right texts of "
        "which a score is to be told from their words. In both about half is noise. The lasso is "
        "told how much; the MLP has one setting, which was not searched for.",
        categories=("series:\nleast squares", "series:\nrecurrent", "words:\nlasso", "words:\nMLP"),
    )


SIMPLE_MODELS = Claim(
    card=Card(
        sentence="On noisy data with little to learn beside what is linear, a simple model does as"
        " well as a network.",
        formula=r"R^2_{AR(5)} \approx R^2_{RNN}, \qquad R^2_{lasso} \ge R^2_{MLP}",
        symbols={
            "R^2": "share of the variance of new targets that is explained; the lasso is told how"
            " large the noise is, the MLP has one setting, not searched for"
        },
        source="James, Witten, Hastie and Tibshirani (2021), An Introduction to Statistical"
        " Learning, section 10.6",
    ),
    topic="Sequences",
    kind="empirical",
    settings=SimpleModelsConfig,
    experiment=measure_simple_models,
)
