r"""A vision transformer is told less about images than a convolutional network, and needs more.

Convolutions have neighbourhoods and shifts built in; attention over patches has to learn both from
the pictures. So with 1 % of them the convolutional network is far ahead, and with all hardly. Where
all shapes lie in the middle there is nothing to know about shifts, and few pictures are enough for
both. What is built in is a matter of degree: a ResNet-20, which has to learn from normalised
batches, was 2 to 22 points ahead with 100 pictures in three tries, this CNN 56 to 59 with 40.

Shapes: N pictures that are learned from.
Source: Dosovitskiy et al., "An Image is Worth 16x16 Words" (2020), section 4.3.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.core.seeding import derive_seed, generator
from netwright.inspection.training.claim_chart import ClaimChart, Series, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.held_out import held_out
from netwright.theory.images.shape_images import NETWORKS, shape_data
from netwright.theory.verdict import Verdict, at_least, estimate

SHAPES = ("bar", "pillar", "plus", "times")
SHARES = {"quick": (1, 100), "full": (1, 3, 10, 30, 100)}  # per cent of the pictures
TRIES = {"quick": 3, "full": 5}
VIT = {"patch": 3, "layers": 1, "heads": 4, "width": 32, "pool": "mean"}
SETTINGS: dict[str, dict[str, Any]] = {
    "cnn": NETWORKS["cnn"],
    "resnet20": {"width": 4},
    "vit": VIT,
}
NAMES = {"cnn": "CNN", "resnet20": "ResNet-20", "vit": "ViT"}
# Attention is given more updates than the CNN, so that these are no excuse.
TRAINING: dict[str, dict[str, Any]] = {
    "cnn": {"lr": 2e-2, "max_steps": 120},
    "resnet20": {"lr": 3e-3, "max_steps": 300, "schedule": "cosine"},
    "vit": {"lr": 3e-3, "max_steps": 300, "schedule": "cosine"},
}
BATCH = 40
AHEAD, CLOSER = 25.0, 25.0  # points of accuracy


@dataclass(frozen=True, kw_only=True)
class InductiveBiasConfig(Config):
    """How many pictures there are, and where the shapes lie."""

    pictures: Annotated[int, Interval(ge=4000, le=100_000), Doc("pictures that are 100 %")] = 4000
    network: Annotated[Literal["cnn", "resnet20"], Doc("convolutional network beside the ViT")] = (
        "cnn"
    )
    longer: Annotated[Size, Doc("times as many updates, for larger sets")] = 1
    shifted: Annotated[
        bool, Assumption("shapes lie anywhere; without it, all of them lie in the middle")
    ] = True


def accuracies(given: InductiveBiasConfig, model: str, seed: int, effort: Effort) -> list[float]:
    """Accuracies in per cent on new pictures, after learning from each share of them."""
    rng = generator(seed, "inductive-bias")
    found = []
    for share in SHARES[effort]:
        data = shape_data(SHAPES, given.pictures * share // 100, rng, shifted=given.shifted)
        train = {**TRAINING[model], "batch_size": BATCH}
        train["max_steps"] = train["epochs"] = given.longer * train["max_steps"]
        tested = held_out(model, data, seed=seed, settings=SETTINGS[model], train=train)
        found.append(tested.percent_right)
    return found


def measure_inductive_bias(given: InductiveBiasConfig, seed: int, effort: Effort) -> Verdict:
    """Train both networks on 1 % to 100 % of the pictures."""
    seeds = [derive_seed(seed, "inductive-bias", i) for i in range(TRIES[effort])]
    curves = {
        model: torch.tensor([accuracies(given, model, one, effort) for one in seeds])
        for model in (given.network, "vit")
    }  # (tries, shares) each
    ahead = curves[given.network] - curves["vit"]
    shares, sizes = SHARES[effort], [given.pictures * one // 100 for one in SHARES[effort]]
    return Verdict(
        findings=(
            at_least(
                f"points that the {NAMES[given.network]} is ahead, {shares[0]} % of the pictures",
                AHEAD,
                **estimate(ahead[:, 0].tolist()).as_measured(),
            ),
            at_least(
                f"points that it loses of that with {shares[-1]} %",
                CLOSER,
                **estimate((ahead[:, 0] - ahead[:, -1]).tolist()).as_measured(),
            ),
        ),
        chart=ClaimChart(
            x_label="pictures learned from",
            y_label="accuracy on new pictures, %",
            log="x",
            series=(
                predicted("guessing", (sizes[0], sizes[-1]), [100 / len(SHAPES)] * 2),
                *(_dots(model, sizes, curve) for model, curve in curves.items()),
            ),
            explanation="Shapes lie anywhere: convolutions know a shape wherever it lies, "
            "attention over patches has to see it there."
            if given.shifted
            else "All shapes lie in the middle: there is nothing to know about shifts.",
        ),
    )


def _dots(model: str, sizes: list[int], curves: Tensor) -> Series:
    """A dot for each network."""
    return measured(NAMES[model], sizes * len(curves), curves.flatten())


INDUCTIVE_BIAS = Claim(
    card=Card(
        sentence="With few pictures a convolutional network is far ahead of a vision transformer, "
        "which has less built in; with a hundred times as many its lead shrinks.",
        formula=r"\Delta(N) = \mathrm{accuracy}_{\mathrm{CNN}}(N) - "
        r"\mathrm{accuracy}_{\mathrm{ViT}}(N), \quad \Delta(N / 100) > \Delta(N)",
        symbols={"N": "pictures that are learned from", r"\Delta": "lead in points of accuracy"},
        source="Dosovitskiy et al. (2020), arXiv:2010.11929, section 4.3",
    ),
    topic="Images",
    kind="empirical",
    settings=InductiveBiasConfig,
    experiment=measure_inductive_bias,
)
