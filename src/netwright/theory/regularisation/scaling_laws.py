r"""Scaling laws: the test error falls as a power of what is spent on learning.

Ridge regression on features whose variances fall as i^{-(1 + a)} knows about as many directions as
it has examples; the others carry sum_{i > n} i^{-(1 + a)} ~ n^{-a} of the error. So a power law of
the spectrum gives one of the error, with the same exponent; a flat spectrum gives none.

In full size GPTs of five widths also learn letters: words of a made-up language by Zipf's law.
Their test loss over their number of weights is fitted by a power law, with the interval of the
exponent. Their learning rate falls with the width; at one rate of 6e-3 for all, seed 0 gave an
exponent of 0.065 with an interval of 0.029 to 0.101 and R² 0.93, which was undecided.

Shapes: n examples, D features, N weights.
Source: Kaplan et al., "Scaling Laws for Neural Language Models" (2020); Maloney, Roberts and Sully,
"A Solvable Model of Neural Scaling Laws" (2022); Yang et al., "Tensor Programs V" (2022), for rates
that fall with the width.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor
from torch.nn.functional import cross_entropy

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size, parse
from netwright.core.seeding import derive_seed, generator, seeded
from netwright.data.spec import DataSpec
from netwright.inspection.training.claim_chart import ClaimChart, Series, line, measured, predicted
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import ClaimFinding, Verdict, at_least, at_most, equals, estimate

EXAMPLES = (16, 32, 64, 128, 256, 512)  # n
FEATURES = 4096  # D
TEACHERS = 32  # that are learned from the same examples
RIDGE = 1e-8  # over the sum of the variances
TRIES = {"quick": 5, "full": 10}
NEAR, STRAIGHT = 0.15, 0.95  # of the exponent; R^2
WIDTHS = (4, 8, 16, 32, 64)  # of the GPTs
LETTERS, WORDS = 20, 2000
CONTEXT, BATCH = 32, 32
FASTEST, RATE = 1e-2, 0.2  # learning rates: at most, and times the width
NETS = 3  # of each width
HELD_OUT = 20_000  # letters


@dataclass(frozen=True, kw_only=True)
class ScalingConfig(Config):
    """The spectrum, and how long the networks of the full size learn."""

    exponent: Annotated[float, Interval(ge=0.5, le=1.5), Doc("a, variances fall as i^-(1 + a)")] = (
        1.0
    )
    steps: Annotated[Size, Doc("updates of each GPT, in full size")] = 400
    power_law: Annotated[
        bool, Assumption("variances fall by a power law; without it, all are the same")
    ] = True


def fit_power(x: Tensor, y: Tensor) -> tuple[float, float]:
    """The slope of log y over log x by least squares, and R^2."""
    across, up = (part.double().log() - part.double().log().mean() for part in (x, y))
    slope = (across * up).sum() / across.square().sum()
    left = (up - slope * across).square().sum() / up.square().sum()
    return float(slope), float(1 - left)


def ridge_error(given: ScalingConfig, examples: int, rng: torch.Generator) -> float:
    """The test error of ridge regression without noise, over that of saying 0; of all teachers."""
    variances = torch.arange(1, FEATURES + 1, dtype=torch.float64) ** -(1 + given.exponent)
    if not given.power_law:
        variances = torch.full_like(variances, float(variances.mean()))
    weights = torch.randn(FEATURES, TEACHERS, generator=rng, dtype=torch.float64)
    x = torch.randn(examples, FEATURES, generator=rng, dtype=torch.float64) * variances.sqrt()
    added = RIDGE * variances.sum() * torch.eye(examples, dtype=torch.float64)
    found = x.T @ torch.linalg.solve(x @ x.T + added, x @ weights)
    return float((variances @ (found - weights).square()).sum() / (variances @ weights**2).sum())


def draw_letters(count: int, rng: torch.Generator) -> Tensor:
    """A text of so many words of 3 to 6 letters by Zipf's law, a space behind each."""
    lengths = torch.randint(3, 7, (WORDS,), generator=rng).tolist()
    words = [
        torch.cat((torch.randint(1, LETTERS + 1, (one,), generator=rng), torch.zeros(1).long()))
        for one in lengths
    ]
    rank = torch.arange(1, WORDS + 1, dtype=torch.float64)
    drawn = torch.multinomial(1 / rank, count, replacement=True, generator=rng)
    return torch.cat([words[one] for one in drawn.tolist()])


def letter_loss(width: int, text: Tensor, seed: int, steps: int) -> tuple[int, float]:
    """The number of weights of a GPT of this width, and its loss on new letters."""
    spec = DataSpec(
        inputs="tokens",
        input_shape=(CONTEXT,),
        target="tokens",
        num_outputs=LETTERS + 1,
        vocab_size=LETTERS + 1,
    )
    with seeded(derive_seed(seed, "weights")):
        model = GPT.build(parse(GPTConfig, {"layers": 2, "heads": 2, "width": width}), spec)
    # Wider networks need smaller steps: at one rate for all, the widest would learn least.
    rng, learned = generator(seed, "batches"), text[:-HELD_OUT]
    optimizer = build_optimizer(OPTIMIZERS.load("adam"), model, lr=min(FASTEST, RATE / width))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        begins = torch.randint(len(learned) - CONTEXT, (BATCH, 1), generator=rng)
        optimizer.zero_grad()
        torch.autograd.backward(_loss(model, learned[begins + torch.arange(CONTEXT + 1)]))
        optimizer.step()
        schedule.step()
    tested = text[-HELD_OUT:].unfold(0, CONTEXT + 1, CONTEXT)
    with torch.no_grad():
        loss = float(_loss(model, tested))
    return sum(weight.numel() for weight in model.parameters()), loss


def measure_scaling(given: ScalingConfig, seed: int, effort: Effort) -> Verdict:
    """Fit the error of ridge regression over n; in full size the loss of GPTs over N, too."""
    rng = generator(seed, "scaling-laws")
    errors = torch.tensor(
        [[ridge_error(given, n, rng) for n in EXAMPLES] for _ in range(TRIES[effort])]
    )
    sizes = torch.tensor(EXAMPLES)
    slopes = estimate([-fit_power(sizes, each)[0] for each in errors])
    means = errors.log().mean(dim=0).exp()
    law = means[0] * (sizes / EXAMPLES[0]) ** -given.exponent
    letters, findings = _letters(given, seed) if effort == "full" else ((), ())
    return Verdict(
        findings=(
            equals(
                "exponent of the error of ridge regression over n",
                given.exponent,
                slopes.mean,
                within=NEAR,
                n=slopes.n,
                interval=slopes.interval,
            ),
            at_least("R² of its line in logarithms", STRAIGHT, fit_power(sizes, means)[1], n=1),
            *findings,
        ),
        chart=ClaimChart(
            x_label="examples, n" + (" (line: thousands of weights)" if letters else ""),
            y_label="test error over that of saying 0" + (" (line: loss)" if letters else ""),
            log="xy",
            series=(
                predicted(f"n^-{given.exponent:g}", EXAMPLES, law),
                measured("ridge regression", EXAMPLES * len(errors), errors.flatten()),
                *letters,
            ),
            explanation="Each further example tells a direction of smaller variance: the error "
            "that is left is the tail of the spectrum."
            if given.power_law
            else "All directions have the same variance: few examples tell almost nothing.",
        ),
    )


def _letters(
    given: ScalingConfig, seed: int
) -> tuple[tuple[Series, ...], tuple[ClaimFinding, ...]]:
    """GPTs of growing width on the same letters."""
    text = draw_letters(40_000, generator(seed, "letters"))
    tries = []
    for i in range(NETS):
        own = derive_seed(seed, "gpt", i)
        tries.append([letter_loss(width, text, own, given.steps) for width in WIDTHS])
    weights = torch.tensor([count for count, _ in tries[0]])
    losses = torch.tensor([[loss for _, loss in each] for each in tries])  # (tries, widths)
    slopes = estimate([-fit_power(weights, each)[0] for each in losses])
    means = losses.log().mean(dim=0).exp()
    return (
        (line("loss of GPTs on letters", weights / 1000, means),),
        (
            at_least("exponent of a GPT's loss over its weights", 0.03, **slopes.as_measured()),
            at_most("the same", 0.2, **slopes.as_measured()),
            at_least("R² of its line in logarithms", 0.9, fit_power(weights, means)[1], n=1),
        ),
    )


def _loss(model: GPT, texts: Tensor) -> Tensor:
    """The mean cross-entropy of each next letter of texts (B, T + 1)."""
    return cross_entropy(model(texts[:, :-1]).flatten(0, 1), texts[:, 1:].flatten())


SCALING = Claim(
    card=Card(
        sentence="Where the variances of the features fall by a power law, the test error of ridge "
        "regression falls with the examples by a power law of the same exponent; the loss of GPTs "
        "falls by one with their weights.",
        formula=r"\lambda_i \propto i^{-(1 + a)} \;\Rightarrow\; L(n) \propto n^{-a}",
        symbols={
            r"\lambda_i": "variance of feature i, (D)",
            "n": "examples",
            "a": "exponent; for the loss of language models over their weights about 0.08",
            "L": "test error over that of saying 0",
        },
        source="Kaplan et al. (2020), arXiv:2001.08361; Maloney, Roberts and Sully (2022), "
        "arXiv:2210.16859",
    ),
    topic="Regularisation",
    kind="empirical",
    settings=ScalingConfig,
    experiment=measure_scaling,
)
