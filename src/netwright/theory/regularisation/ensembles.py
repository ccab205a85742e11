r"""Ensembles: the mean of several predictors, and a weighted vote of weak ones.

    mean   (f_bar(x) - y)^2 <= 1/M sum_m (f_m(x) - y)^2,
           Var f_bar = rho v + (1 - rho) v / M
    vote   share of wrong votes <= prod_t 2 sqrt(e_t (1 - e_t))

Shapes: M members, N examples, R data sets, S stumps, T rounds.
Source: Krogh and Vedelsby, "Neural Network Ensembles, Cross Validation, and Active Learning"
(1995); Freund and Schapire, "A Decision-Theoretic Generalization of On-Line Learning and an
Application to Boosting" (1997).
"""

# ruff: noqa: RUF001 - the Greek letters are meant

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Ge, Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.core.seeding import derive_seed, generator
from netwright.inspection.training.claim_chart import ClaimChart, line, measured, predicted
from netwright.models.linear.least_squares import solve_least_squares
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.networks.network_symmetries import random_net
from netwright.theory.verdict import Verdict, equals, no_violations

DRAWS = {"quick": 20_000, "full": 500_000}
ENSEMBLES_TRIED = {"quick": 5, "full": 50}
ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class EnsembleConfig(Config):
    """The members, and how alike their errors are."""

    members: Annotated[int, Interval(ge=2, le=64), Doc("M, predictors of the largest ensemble")] = (
        16
    )
    correlation: Annotated[
        float, Interval(ge=0.1, lt=1), Doc("rho, between the errors of two members")
    ] = 0.3
    variance: Annotated[float, Interval(gt=0, le=1e6), Doc("v, of the error of one member")] = 1.0
    convex_loss: Annotated[bool, Assumption("the loss is convex, as the squared error is")] = True
    equal_correlation: Annotated[
        bool,
        Assumption(
            "all pairs of members have the correlation rho; without it, only pairs from the same "
            "half of the ensemble"
        ),
    ] = True


@torch.no_grad()
def member_outputs(members: int, seed: int) -> tuple[Tensor, Tensor]:
    """Random hidden units, their sums fitted to a bootstrap sample: (M, N), and targets (N,)."""
    random = generator(seed, "members")
    x = 6 * torch.rand(60, 1, generator=random, dtype=torch.float64) - 3
    y = x.sin() + 0.3 * torch.randn(x.shape, generator=random, dtype=torch.float64)
    outputs = []
    for member in range(members):
        hidden = random_net(1, [20], "tanh", derive_seed(seed, "net", member)).hidden(x)
        rows = torch.randint(len(x), (len(x),), generator=random)
        slope, bias = solve_least_squares(hidden[rows], y[rows], l2=1e-4)
        outputs.append((hidden @ slope.T + bias).squeeze(1))
    return torch.stack(outputs), y.squeeze(1)


def count_worse_means(given: EnsembleConfig, seed: int, ensembles: int) -> tuple[int, int]:
    """Examples on which the mean of the members loses more than they do on average, of how many."""
    worse = total = 0
    for i in range(ensembles):
        outputs, targets = member_outputs(given.members, derive_seed(seed, i))
        power = 2.0 if given.convex_loss else 0.5
        own = (outputs - targets).abs().pow(power).mean(dim=0)
        joint = (outputs.mean(dim=0) - targets).abs().pow(power)
        worse += int((joint > own + ROUNDING).sum())
        total += len(targets)
    return worse, total


def variances_of_means(given: EnsembleConfig, random: torch.Generator, draws: int) -> Tensor:
    """The variance of the mean of the first 1, 2 ... M errors, (M,)."""
    shared, halves = given.correlation, 1 if given.equal_correlation else 2
    own = torch.randn(draws, given.members, generator=random, dtype=torch.float64)
    common = torch.randn(draws, halves, generator=random, dtype=torch.float64)
    common = common[:, torch.arange(given.members) * halves // given.members]
    errors = math.sqrt(given.variance) * (math.sqrt(shared) * common + math.sqrt(1 - shared) * own)
    counts = torch.arange(1, given.members + 1)
    return (errors.cumsum(dim=1) / counts).var(dim=0)


def measure_ensembles(given: EnsembleConfig, seed: int, effort: Effort) -> Verdict:
    """Means of fitted networks against their members; means of simulated errors of any number."""
    worse, total = count_worse_means(given, seed, ENSEMBLES_TRIED[effort])
    found = variances_of_means(given, generator(seed, "errors"), DRAWS[effort])
    counts = range(1, given.members + 1)
    rho, v = given.correlation, given.variance
    loss = "squared error" if given.convex_loss else "root of the error"
    formula = [rho * v + (1 - rho) * v / count for count in counts]
    # A variance from n normal draws is off by a share of sqrt(2 / n); four of them are allowed.
    within = 4 * math.sqrt(2 / DRAWS[effort])
    return Verdict(
        findings=(
            no_violations(
                f"examples where the mean's {loss} is above the members' mean",
                worse,
                n=total,
            ),
            equals(
                f"variance of the mean of {given.members} members",
                formula[-1],
                float(found[-1]),
                within=within * formula[-1],
                n=DRAWS[effort],
            ),
            no_violations(
                "sizes of an ensemble whose variance is more than four standard errors off",
                sum(
                    abs(value - wanted) > within * wanted
                    for value, wanted in zip(found.tolist(), formula, strict=True)
                ),
                n=len(counts),
            ),
        ),
        chart=ClaimChart(
            x_label="members, M",
            y_label="variance of their mean",
            series=(
                predicted("ρv + (1 - ρ)v/M", counts, formula),
                measured(f"measured, ρ = {rho:g}, v = {v:g}", counts, found),
                line("v/M, if errors were independent", counts, [v / count for count in counts]),
            ),
            explanation="Averaging removes what members get wrong each by itself; what all of them "
            "share, ρv with equal correlations, remains however many there are.",
        ),
    )


ENSEMBLES = Claim(
    card=Card(
        sentence="The mean of several predictors has at most their mean squared error, and its"
        " variance falls with their number down to what their errors share.",
        formula=r"(\bar f - y)^2 \le \frac{1}{M}\sum_m (f_m - y)^2, \quad"
        r" \mathrm{Var}\,\bar f = \rho v + \frac{(1-\rho) v}{M}",
        symbols={
            "M": "members",
            r"\bar f": "the mean of their outputs",
            "v": "variance of the error of one member",
            r"\rho": "correlation between the errors of two members",
        },
        source="Krogh and Vedelsby (1995), NIPS 7, 231-238",
    ),
    topic="Regularisation",
    kind="theorem",
    settings=EnsembleConfig,
    experiment=measure_ensembles,
)

BOOSTED_SETS = {"quick": 20, "full": 200}


@dataclass(frozen=True, kw_only=True)
class BoostingConfig(Config):
    """The points, and how often to boost."""

    examples: Annotated[int, Ge(20), Doc("N, points in the plane: inside or outside a circle")] = 60
    rounds: Annotated[Size, Doc("T, stumps that vote")] = 40
    flipped: Annotated[
        float, Interval(ge=0, lt=0.5), Doc("share of labels that are wrong, so that it is hard")
    ] = 0.1
    reweighted: Annotated[
        bool, Assumption("points that a stump got wrong count more in the next round")
    ] = True


def circles(given: BoostingConfig, sets: int, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """Points (R, N, 2) and their labels, -1 or 1 (R, N)."""
    points = torch.randn(sets, given.examples, 2, generator=random, dtype=torch.float64)
    flips = torch.rand(sets, given.examples, generator=random) < given.flipped
    inside = points.square().sum(dim=2) < 2 * math.log(2)  # half of them
    return points, torch.where(inside ^ flips, 1.0, -1.0).double()


def stump_votes(points: Tensor) -> Tensor:
    """What every stump says of every point: a coordinate against that of a point (R, S, N)."""
    columns = points.mT  # (R, 2, N)
    above = (columns.unsqueeze(3) >= columns.unsqueeze(2)).mT.flatten(1, 2)  # (R, 2 N, N)
    votes = above.double() * 2 - 1
    return torch.cat((votes, -votes), dim=1)


def boost(given: BoostingConfig, points: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """AdaBoost: shares of wrong votes, bounds and mean exponential losses, (T, R) each."""
    votes = stump_votes(points)
    weights = torch.full_like(labels, 1 / labels.shape[1])
    total, bound = torch.zeros_like(labels), torch.ones(len(labels), dtype=torch.float64)
    wrong, bounds, losses = [], [], []
    for _ in range(given.rounds):
        edges = (votes @ (weights * labels).unsqueeze(2)).squeeze(2)  # 1 - 2 e, (R, S)
        edge, best = edges.max(dim=1)
        error = (1 - edge) / 2
        vote = votes[torch.arange(len(votes)), best]  # (R, N)
        alpha = ((1 - error) / error).log() / 2
        total = total + alpha.unsqueeze(1) * vote
        if given.reweighted:
            weights = weights * (-alpha.unsqueeze(1) * labels * vote).exp()
            weights = weights / weights.sum(dim=1, keepdim=True)
        bound = bound * 2 * (error * (1 - error)).sqrt()
        wrong.append((total * labels <= 0).double().mean(dim=1))
        bounds.append(bound)
        losses.append((-labels * total).exp().mean(dim=1))
    return torch.stack(wrong), torch.stack(bounds), torch.stack(losses)


def measure_boosting(given: BoostingConfig, seed: int, effort: Effort) -> Verdict:
    """Boost stumps on many data sets, and look at every round."""
    points, labels = circles(given, BOOSTED_SETS[effort], generator(seed, "circles"))
    wrong, bounds, losses = boost(given, points, labels)
    rounds = range(1, given.rounds + 1)
    return Verdict(
        findings=(
            no_violations(
                "rounds with more wrong votes than the bound allows",
                int((wrong > bounds + ROUNDING).sum()),
                n=wrong.numel(),
            ),
            no_violations(
                "rounds whose mean of exp(-y F) is not the bound",
                int(((losses - bounds).abs() > ROUNDING).sum()),
                n=losses.numel(),
            ),
        ),
        chart=ClaimChart(
            x_label="rounds, t",
            y_label="share of training points",
            series=(
                predicted("bound: product of 2√(e(1 - e))", rounds, bounds.mean(dim=1)),
                measured("wrong after t rounds", rounds, wrong.mean(dim=1)),
            ),
            explanation=f"Means over {wrong.shape[1]} data sets of {given.examples} points, "
            f"{given.flipped:.0%} of them with a wrong label.",
        ),
    )


BOOSTING = Claim(
    card=Card(
        sentence="Boosting drives the training error down at least as fast as the product of"
        " 2 √(e (1 - e)) over its rounds.",
        formula=r"\frac{1}{n}\sum_i 1\{y_i F(x_i) \le 0\} \le \prod_t 2\sqrt{(1-e_t) e_t},"
        r" \quad F = \sum_t \frac{1}{2} \ln\frac{1-e_t}{e_t}\, h_t",
        symbols={
            "e_t": "weighted error of the stump of round t",
            "h_t": "its vote, -1 or 1",
            "y_i": "label of point i, -1 or 1",
        },
        source="Freund and Schapire (1997), Journal of Computer and System Sciences 55, 119-139",
    ),
    topic="Regularisation",
    kind="theorem",
    settings=BoostingConfig,
    experiment=measure_boosting,
)
