"""Transfer: features that were learned on many pictures of some classes serve for new ones.

Five pictures of a shape do not show it at every place, so that a network cannot learn from them to
know it anywhere. They do show how to weigh features that already follow shapes over the picture:
those learned on eight other classes are kept, and only a new last layer learns. With hundreds of
pictures of the new classes a network finds such features by itself.

It depends on the network: one that keeps only the largest value of each filter over the whole
picture knows a shape anywhere from the start, learns these shapes from ten pictures, and gains
nothing by transfer.

Source: Yosinski et al., "How transferable are features in deep neural networks?" (2014).
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import torch
from annotated_types import Interval

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import derive_seed, generator, seeded
from netwright.data.dataset import Data
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.models.vision.cnn import CNN, CNNConfig
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.held_out import train_and_test
from netwright.theory.images.shape_images import EDGE, SHAPES, shape_data
from netwright.theory.verdict import Verdict, at_least, estimate

NETWORK = CNNConfig(channels=(8,), kernel=EDGE, pool=3, hidden=(32,), dropout=0.0)
KEPT = "classifier.1"  # the last part that is transferred: the dense hidden layer
NEW = 2  # classes that are transferred to; the other shapes are known before
KNOWN_PICTURES = 1600
PLENTY = 200  # pictures of a new class, where they are not scarce
BATCH = 50
STEPS = {"quick": 80, "full": 300}  # on the known classes
NEW_STEPS = {"quick": 30, "full": 60}
CHOICES = {"quick": 4, "full": 6}  # of the new classes
DRAWS = {"quick": 1, "full": 10}  # of their pictures, for each choice
CLEAR = 5.0  # points of accuracy


@dataclass(frozen=True, kw_only=True)
class TransferConfig(Config):
    """How little there is of the new classes."""

    pictures: Annotated[int, Interval(ge=1, le=20), Doc("of each new class, to learn from")] = 5
    scarce: Annotated[
        bool, Assumption(f"so few pictures of the new classes; without it, {PLENTY} of each")
    ] = True


class Accuracies(NamedTuple):
    """On new classes, in per cent."""

    scratch: float
    transferred: float


def build_net(data: Data, seed: int) -> CNN:
    """A network for these classes, with first weights of its own."""
    with seeded(derive_seed(seed, "weights")):
        return CNN.build(NETWORK, data.spec)


def learn(net: CNN, data: Data, *, seed: int, steps: int, freeze: str = "") -> float:
    """Let a network learn, but for what is frozen; its accuracy on new pictures, in per cent."""
    size = min(BATCH, len(data.train))
    train = {"lr": 2e-2, "batch_size": size, "epochs": steps, "max_steps": steps, "freeze": freeze}
    return train_and_test(net, data, seed=seed, train=train).percent_right


def with_features_of(source: CNN, net: CNN) -> CNN:
    """The network, with all but its last layer from another one."""
    kept = {
        name: weight
        for name, weight in source.state_dict().items()
        if name.startswith(("features.", f"{KEPT}."))
    }
    net.load_state_dict(kept, strict=False)
    return net


def transfer(given: TransferConfig, seed: int, effort: Effort) -> list[Accuracies]:
    """Learn all shapes but two, then these two from a few pictures, of several draws."""
    rng = generator(seed, "transfer")
    names = [list(SHAPES)[place] for place in torch.randperm(len(SHAPES), generator=rng)]
    new, known = names[:NEW], names[NEW:]
    data = shape_data(known, KNOWN_PICTURES, rng)
    source, found = build_net(data, seed), []
    learn(source, data, seed=seed, steps=STEPS[effort])
    for draw in range(DRAWS[effort]):
        own, steps = derive_seed(seed, "draw", draw), NEW_STEPS[effort]
        few = shape_data(new, NEW * (given.pictures if given.scarce else PLENTY), rng)
        scratch, other = build_net(few, own), with_features_of(source, build_net(few, own))
        found.append(
            Accuracies(
                learn(scratch, few, seed=own, steps=steps),
                learn(other, few, seed=own, steps=steps, freeze=KEPT),
            )
        )
    return found


def measure_transfer(given: TransferConfig, seed: int, effort: Effort) -> Verdict:
    """Transfer to several choices of new classes; draws of one choice share their features."""
    choices = [
        transfer(given, derive_seed(seed, "transfer", choice), effort)
        for choice in range(CHOICES[effort])
    ]
    draws = len(choices[0])
    means = [[sum(column) / draws for column in zip(*choice, strict=True)] for choice in choices]
    scratch, transferred = zip(*means, strict=True)
    gain = estimate([after - before for before, after in means])
    pictures = given.pictures if given.scarce else PLENTY
    return Verdict(
        findings=(
            at_least(
                "points of accuracy that transfer is ahead of learning from scratch",
                CLEAR,
                **gain.as_measured(),
            ),
        ),
        chart=ClaimChart(
            x_label=f"two new classes, {pictures} pictures of each",
            y_label="accuracy on new pictures, %",
            series=(
                predicted(
                    f"from scratch + {CLEAR:g} points", (1,), (sum(scratch) / len(scratch) + CLEAR,)
                ),
                measured(
                    "measured, a dot for each choice of classes",
                    [0] * len(scratch) + [1] * len(transferred),
                    scratch + transferred,
                ),
            ),
            explanation=f"The two classes were chosen {len(choices)} times, and their pictures "
            f"drawn {draws * len(choices)} times. What the eight other classes have taught is "
            "kept, and a new last layer learns to weigh it.",
            categories=("from scratch", "transferred"),
        ),
    )


TRANSFER = Claim(
    card=Card(
        sentence="With five pictures of each new class, a network that has learned other classes "
        "before is at least five points more accurate than one that starts from scratch.",
        formula=r"\mathrm{accuracy}(V \phi_{\mathrm{known}}(x)) \geq"
        r" \mathrm{accuracy}(V \phi(x)) + 0.1",
        symbols={
            r"\phi_{\mathrm{known}}": "all layers but the last, learned on eight other classes",
            r"\phi": "the same layers, learned from the few pictures",
            "V": "the last layer, learned from the few pictures",
        },
        source="Yosinski, Clune, Bengio and Lipson (2014), NeurIPS 27, 3320-3328",
        misprint="Often told of every network. One that keeps only the largest value of each "
        "filter over the whole picture learns these shapes from ten pictures, and gains nothing.",
    ),
    topic="Images",
    kind="empirical",
    settings=TransferConfig,
    experiment=measure_transfer,
)
