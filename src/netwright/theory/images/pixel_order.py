r"""The order of pixels: a dense network does not see it, a convolutional one lives from it.

The first layer of a dense network has a weight for every pixel, all drawn alike: pictures whose
pixels are exchanged, the same way in all of them, are as easy or hard to learn. A convolution
looks for patterns of neighbouring pixels; where neighbours are strangers it finds none.

Shapes: I x J pixels.
Source: Goodfellow, Bengio and Courville, "Deep Learning" (2016), section 9.4.
"""

from dataclasses import dataclass, replace
from typing import Annotated

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.core.seeding import derive_seed, generator
from netwright.data.dataset import Data, Split
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.images.shape_images import SIDE, percent_right, shape_data
from netwright.theory.verdict import Verdict, at_least, equals, estimate

SHAPES = ("bar", "pillar", "plus", "times")
PICTURES = 400
STEPS = {"quick": 40, "full": 200}
TRIES = {"quick": {"mlp": 6, "cnn": 4}, "full": {"mlp": 20, "cnn": 10}}
UNCHANGED, CLEAR = 3.0, 10.0  # points of accuracy


@dataclass(frozen=True, kw_only=True)
class PixelOrderConfig(Config):
    """What the pictures are like."""

    local: Annotated[
        bool,
        Assumption(
            "neighbouring pixels belong together; without it, they have been exchanged before"
        ),
    ] = True


def reordered(data: Data, order: Tensor) -> Data:
    """The same pictures, the pixels of all of them in another order (I J,)."""

    def turned(split: Split) -> Split:
        pixels = split.inputs.flatten(2)[:, :, order]
        return replace(split, inputs=pixels.reshape(split.inputs.shape))

    return replace(data, train=turned(data.train), test=turned(data.split("test")))


def accuracies(given: PixelOrderConfig, model: str, seed: int, steps: int) -> tuple[float, float]:
    """In per cent, of networks that learned the pictures, and the pictures reordered."""
    rng = generator(seed, "pixel-order")
    data = shape_data(SHAPES, PICTURES, rng)
    if not given.local:
        data = reordered(data, torch.randperm(SIDE**2, generator=rng))
    other = reordered(data, torch.randperm(SIDE**2, generator=rng))
    return (
        percent_right(model, data, seed=seed, steps=steps),
        percent_right(model, other, seed=derive_seed(seed, "reordered"), steps=steps),
    )


def measure_pixel_order(given: PixelOrderConfig, seed: int, effort: Effort) -> Verdict:
    """Train both networks on shapes, and on shapes whose pixels are exchanged."""
    tried = {
        model: [
            accuracies(given, model, derive_seed(seed, "pixel-order", i), STEPS[effort])
            for i in range(tries)
        ]
        for model, tries in TRIES[effort].items()
    }
    drops = {
        model: estimate([before - after for before, after in pairs])
        for model, pairs in tried.items()
    }
    dense, convolutional = drops["mlp"], drops["cnn"]
    return Verdict(
        findings=(
            equals(
                "accuracy that a dense network loses, points",
                0,
                within=UNCHANGED,
                **dense.as_measured(),
            ),
            at_least(
                "accuracy that a convolutional network loses, points",
                CLEAR,
                **convolutional.as_measured(),
            ),
        ),
        chart=_chart(tried),
    )


def _chart(tried: dict[str, list[tuple[float, float]]]) -> ClaimChart:
    """Accuracies before and after, a dot for each network."""
    columns = [column for pairs in tried.values() for column in zip(*pairs, strict=True)]
    dense, dense_after, conv, conv_after = (sum(column) / len(column) for column in columns)
    dots = [(place, value) for place, column in enumerate(columns) for value in column]
    return ClaimChart(
        x_label="",
        y_label="accuracy on new pictures, %",
        series=(
            predicted("dense: as before; convolutional: 10 less", (1, 3), (dense, conv - CLEAR)),
            measured("measured", *zip(*dots, strict=True)),
        ),
        explanation="The pixels of all pictures are exchanged in the same way, and networks learn "
        f"them afresh. The means: dense {dense:.0f} % before and {dense_after:.0f} % after, "
        f"convolutional {conv:.0f} % before and {conv_after:.0f} % after.",
        categories=("dense", "dense,\nreordered", "convolutional", "convolutional,\nreordered"),
    )


PIXEL_ORDER = Claim(
    card=Card(
        sentence="The order of the pixels does not matter to a dense network, and matters to a "
        "convolutional one.",
        formula=r"W x = (W P^{-1})(P x), \qquad k * (P x) \neq P (k * x)",
        symbols={
            "x": "a picture, its pixels in a row",
            "P": "a permutation of the pixels, the same for all pictures",
            "W": "weights of a dense layer, drawn alike for all pixels",
            "k": "the kernel of a convolution",
        },
        source="Goodfellow, Bengio and Courville (2016), Deep Learning, section 9.4",
    ),
    topic="Images",
    kind="empirical",
    settings=PixelOrderConfig,
    experiment=measure_pixel_order,
)
