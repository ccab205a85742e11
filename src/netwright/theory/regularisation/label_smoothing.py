r"""Label smoothing: targets 1 - eps and eps / (K - 1) instead of 1 and 0.

The cross-entropy is least where the probabilities are the targets, so that the logit of the right
class ends above the others by

    log((1 - eps) (K - 1) / eps),

4.394 for eps = 0.1 and ten classes. With targets 1 and 0 the gap grows for ever, as log t: by
log 2 = 0.69 each time that the number of steps doubles.

Shapes: N examples, D features, K classes.
Source: Szegedy et al., "Rethinking the Inception Architecture for Computer Vision" (2016), section
7, for the idea, with eps / K for all K classes; Soudry et al., "The Implicit Bias of Gradient
Descent on Separable Data" (2018), for log t.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Ge, Interval
from torch import Tensor
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive, Size
from netwright.core.seeding import derive_seed, generator, seeded
from netwright.data.spec import DataSpec
from netwright.inspection.training.claim_chart import ClaimChart, line, predicted
from netwright.models.linear.classification import SoftmaxRegression, SoftmaxRegressionConfig
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, equals, estimate

TRIES = {"quick": 5, "full": 10}
STEPS = {"quick": 160, "full": 1000}


@dataclass(frozen=True, kw_only=True)
class LabelSmoothingConfig(Config):
    """The classes, and how much of a label is spread over the others."""

    classes: Annotated[int, Ge(2), Doc("K, classes")] = 10
    smoothing: Annotated[float, Interval(gt=0, lt=0.5), Doc("eps")] = 0.1
    examples: Annotated[Size, Doc("N, examples")] = 50
    features: Annotated[Size, Doc("D; more than N, so that any labels can be separated")] = 400
    lr: Annotated[Positive, Doc("step size of gradient descent")] = 0.2
    smoothed: Annotated[bool, Assumption("a share eps of each label goes to the others")] = True
    separable: Annotated[
        bool, Assumption("the classes can be separated: no input has two labels")
    ] = True


def smoothed_targets(labels: Tensor, classes: int, smoothing: float) -> Tensor:
    """Probabilities (N, K): 1 - eps for the label, eps / (K - 1) for each other class."""
    hot = F.one_hot(labels, classes).double()
    return hot * (1 - smoothing) + (1 - hot) * smoothing / (classes - 1)


def logit_gaps(given: LabelSmoothingConfig, smoothing: float, steps: int, seed: int) -> Tensor:
    """The right logit above the mean of the others, averaged over examples, at each step."""
    random = generator(seed, "inputs")
    x = torch.randn(given.examples, given.features, generator=random, dtype=torch.float64)
    labels = torch.arange(given.examples) % given.classes
    if not given.separable:  # every input comes with two labels
        x, labels = x.repeat(2, 1), torch.cat((labels, (labels + 1) % given.classes))
    spec = DataSpec(
        inputs="features",
        input_shape=(given.features,),
        target="class",
        num_outputs=given.classes,
    )
    with seeded(derive_seed(seed, "start")):
        model = SoftmaxRegression.build(SoftmaxRegressionConfig(), spec).double()
    optimizer = build_optimizer(OPTIMIZERS.load("sgd"), model, lr=given.lr)
    targets, hot = (
        smoothed_targets(labels, given.classes, smoothing),
        F.one_hot(labels, given.classes),
    )
    gaps = []
    for _ in range(steps):
        optimizer.zero_grad()
        logits = model(x)
        F.cross_entropy(logits, targets).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        right = (logits * hot).sum(dim=1)
        others = (logits.sum(dim=1) - right) / (given.classes - 1)
        gaps.append((right - others).mean().detach())
    return torch.stack(gaps)


def measure_label_smoothing(given: LabelSmoothingConfig, seed: int, effort: Effort) -> Verdict:
    """Train with and without smoothing, and follow the gap between the logits."""
    cap = math.log((1 - given.smoothing) * (given.classes - 1) / given.smoothing)
    own = given.smoothing if given.smoothed else 0.0
    smooth, hard = (
        torch.stack(
            [
                logit_gaps(given, smoothing, STEPS[effort], derive_seed(seed, i))
                for i in range(TRIES[effort])
            ]
        )
        for smoothing in (own, 0.0)
    )
    last = estimate(smooth[:, -1].tolist())
    growth = estimate((hard[:, -1] - hard[:, STEPS[effort] // 2 - 1]).tolist())
    steps = range(1, STEPS[effort] + 1)
    return Verdict(
        findings=(
            equals(
                f"gap of the logits after {STEPS[effort]} steps",
                cap,
                last.mean,
                within=0.05,
                n=last.n,
                interval=last.interval,
            ),
            equals(
                "growth of the gap without smoothing as the steps double",
                math.log(2),
                growth.mean,
                within=0.05,
                n=growth.n,
                interval=growth.interval,
            ),
        ),
        chart=ClaimChart(
            x_label="steps of gradient descent",
            y_label="right logit above the others",
            series=(
                predicted(f"log((1 - ε)(K - 1)/ε) = {cap:.3f}", steps, [cap] * len(steps)),
                line(f"labels smoothed, ε = {own:g}", steps, smooth.mean(dim=0)),
                line("labels 0 and 1", steps, hard.mean(dim=0)),
            ),
            explanation=f"Softmax regression on {given.classes} separable classes. Smoothed "
            "labels have a best gap; hard labels ask for ever larger ones.",
        ),
    )


LABEL_SMOOTHING = Claim(
    card=Card(
        sentence="Label smoothing caps the gap between the logits, which grows without end when"
        " separable classes have labels 0 and 1.",
        formula=r"z_y - z_k \to \log\frac{(1-\epsilon)(K-1)}{\epsilon}",
        symbols={
            "z_y, z_k": "logits of the right class and of another",
            r"\epsilon": "the share of a label that is spread over the other classes",
            "K": "classes",
        },
        source="after Szegedy et al. (2016), CVPR, 2818-2826, who spread it over all K classes",
        misprint="The loss is -sum p log q; without the minus its minimum drives q to 0. torch's"
        " `label_smoothing` spreads over all K classes, as the paper does: it is K / (K - 1) times"
        " this epsilon.",
    ),
    topic="Regularisation",
    kind="empirical",
    settings=LabelSmoothingConfig,
    experiment=measure_label_smoothing,
)
