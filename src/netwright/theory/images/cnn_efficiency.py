r"""Fewer weights, fewer pictures: what a convolutional network saves where shapes lie anywhere.

A dense network has to see a shape at every place to know it there. A convolution that has learned
it at one place knows it at all of them: it needs neither the weights nor the pictures for them.
Where all shapes lie in the middle there is nothing to save.

Shapes: N pictures that are learned from.
Source: LeCun, "Generalization and Network Design Strategies" (1989).
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, parse
from netwright.core.seeding import derive_seed, generator
from netwright.data.spec import DataSpec
from netwright.inspection.training.claim_chart import ClaimChart, Series, measured, predicted
from netwright.models.catalog import MODELS
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.images.shape_images import NETWORKS, SIDE, percent_right, shape_data
from netwright.theory.images.vision_parameters import count
from netwright.theory.verdict import Verdict, at_least, estimate

SHAPES = ("bar", "pillar", "plus", "times")
FEW, MANY = 100, 400
PICTURES = {"quick": (FEW, MANY), "full": (50, FEW, 200, MANY, 800)}
KINDS = {"mlp": "dense", "cnn": "convolutional"}
STEPS = {"quick": 40, "full": 120}  # as many for few pictures as for many
TRIES = {"quick": 4, "full": 8}
TIMES, CLEAR = 10.0, 10.0  # fewer weights, points of accuracy more


@dataclass(frozen=True, kw_only=True)
class FewerWeightsConfig(Config):
    """Where the shapes lie."""

    shifted: Annotated[
        bool, Assumption("shapes lie anywhere; without it, all of them lie in the middle")
    ] = True


def count_weights(model: str) -> int:
    """Weights and biases of a network for these pictures."""
    spec = DataSpec(
        inputs="image", input_shape=(1, SIDE, SIDE), target="class", num_outputs=len(SHAPES)
    )
    kind = MODELS.load(model)
    with torch.device("meta"):
        net = kind.build(parse(kind.settings, NETWORKS[model]), spec)
    return count(net)


def learning_curve(given: FewerWeightsConfig, model: str, seed: int, effort: Effort) -> list[float]:
    """Accuracies in per cent, after learning from so many pictures."""
    rng = generator(seed, "cnn-efficiency")
    sets = [shape_data(SHAPES, size, rng, shifted=given.shifted) for size in PICTURES[effort]]
    return [percent_right(model, data, seed=seed, steps=STEPS[effort]) for data in sets]


def measure_fewer_weights(given: FewerWeightsConfig, seed: int, effort: Effort) -> Verdict:
    """Train both networks on few and on many pictures."""
    sizes, tries = PICTURES[effort], range(TRIES[effort])
    seeds = [derive_seed(seed, "cnn-efficiency", i) for i in tries]
    curves = {
        model: torch.tensor([learning_curve(given, model, one, effort) for one in seeds])
        for model in NETWORKS
    }
    dense, conv = curves["mlp"], curves["cnn"]  # (tries, sizes) each
    few, many = sizes.index(FEW), sizes.index(MANY)
    ahead = estimate((conv[:, many] - dense[:, many]).tolist())
    ahead_with_fewer = estimate((conv[:, few] - dense[:, many]).tolist())
    return Verdict(
        findings=(
            at_least(
                "weights of the dense network over those of the convolutional one",
                TIMES,
                count_weights("mlp") / count_weights("cnn"),
                n=1,
            ),
            at_least(
                f"points of accuracy that the convolutional one is ahead, {MANY} pictures",
                CLEAR,
                **ahead.as_measured(),
            ),
            at_least(
                f"points that it is ahead with {FEW} pictures, the dense one with {MANY}",
                0,
                **ahead_with_fewer.as_measured(),
            ),
        ),
        chart=ClaimChart(
            x_label="pictures learned from",
            y_label="accuracy on new pictures, %",
            series=(
                predicted("dense + 10 points", sizes, dense.mean(dim=0) + CLEAR),
                _dots("cnn", sizes, conv),
                _dots("mlp", sizes, dense),
            ),
            explanation="Four shapes that lie anywhere: the dense network has to see each of them "
            "at every place, the convolutional one knows a shape wherever it lies."
            if given.shifted
            else "All shapes lie in the middle: a dense network sees them there as well.",
        ),
    )


def _dots(model: str, sizes: tuple[int, ...], curves: Tensor) -> Series:
    """A dot for each network."""
    name = f"{KINDS[model]}, {count_weights(model):,} weights"
    return measured(name, sizes * len(curves), curves.flatten())


FEWER_WEIGHTS = Claim(
    card=Card(
        sentence="On shapes that lie anywhere a convolutional network is more accurate than a "
        "dense one, with a tenth of its weights and a quarter of its pictures.",
        formula=r"P_{\mathrm{conv}} \leq \frac{P_{\mathrm{dense}}}{10}, \qquad"
        r" \mathrm{accuracy}_{\mathrm{conv}} > \mathrm{accuracy}_{\mathrm{dense}}",
        symbols={"P": "weights and biases of a network"},
        source="LeCun (1989), Generalization and Network Design Strategies, CRG-TR-89-4",
    ),
    topic="Images",
    kind="empirical",
    settings=FewerWeightsConfig,
    experiment=measure_fewer_weights,
)
