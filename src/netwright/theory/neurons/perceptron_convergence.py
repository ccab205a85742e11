r"""Novikoff's theorem: on separable data a perceptron makes at most R^2 / gamma^2 updates.

With z_i = y_i (x_i, 1) and |w*| = 1 such that w*^T z_i >= gamma, each update w <- w + z_i of a
mistake, where w^T z_i <= 0,

    adds at least gamma to w*^T w     so that  w*^T w_t >= t gamma       (the alignment)
    adds at most R^2 to |w|^2         so that  |w_t|^2 <= t R^2          (the norm)

and t gamma <= w*^T w_t <= |w_t| <= R sqrt(t) leaves t <= R^2 / gamma^2.

Shapes: N points, D features, T updates.
Source: Novikoff, "On convergence proofs on perceptrons" (1962).
"""

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import torch
from annotated_types import Interval
from scipy.special import betainc
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, Series, line, measured, predicted
from netwright.models.neurons.mistake_driven import perceptron_pass
from netwright.models.neurons.separability import WidestPlane, widest_plane, with_ones
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most, equals, no_violations

REPEATS = {"quick": 1, "full": 10}
SPREAD = 4.0  # the widest generated margin over the least
LEAST_ROOM = 0.01  # share of random points that lie far enough from a plane
ROUNDING = 1e-9  # of a bound that may be a whole number
ORTHOGONAL = (4, 16, 64)
SYMBOLS = {
    "x, y": "a point, (D), and its class, +1 or -1",
    "w_t": "weights after t updates, the bias among them, (D + 1)",
    "w^*": "the unit vector with the widest margin, (D + 1)",
    r"\gamma": "its margin: the least y (w^*)^T (x, 1)",
    "R": "the length of the longest (x, 1)",
}
SOURCE = "Novikoff (1962), Symposium on the Mathematical Theory of Automata 12, 615-622"


@dataclass(frozen=True, kw_only=True)
class SetsConfig(Config):
    """The random sets."""

    margin: Annotated[
        float, Interval(ge=0.01, lt=0.25), Doc("the least margin that sets are made with")
    ] = 0.1
    dimension: Annotated[int, Interval(ge=1, le=1000), Doc("D, features of a point")] = 5
    points: Annotated[int, Interval(ge=1, le=1000), Doc("N, points a set, in the unit ball")] = 50
    sets: Annotated[
        int, Interval(ge=1, le=1000), Doc("random sets of points; ten times as many at full size")
    ] = 100

    def __post_init__(self) -> None:
        """Refuse a margin that leaves the ball too thin for random points."""
        super().__post_init__()
        room = room_beyond(SPREAD * self.margin, self.dimension)
        if room < LEAST_ROOM:
            raise ConfigError(
                f"margin and dimension must leave {LEAST_ROOM:.0%} of the unit ball further than "
                f"{SPREAD:g} margins from a plane, got {room:.2g} with margin {self.margin:g} in "
                f"{self.dimension} dimensions"
            )


def room_beyond(gap: float, dimension: int) -> float:
    """The share of the unit ball that lies further than this from a plane through its centre."""
    # The squared height of a random point of the ball has the beta law of 1/2 and (D + 1)/2.
    return 1 - float(betainc(0.5, (dimension + 1) / 2, gap**2))


@dataclass(frozen=True, kw_only=True)
class NovikoffConfig(SetsConfig):
    """The random sets, and whether a plane separates them."""

    separable: Annotated[
        bool, Assumption("a plane separates the data; off: one label of each set is flipped")
    ] = True

    def __post_init__(self) -> None:
        """Refuse points that a plane separates whatever their labels are."""
        super().__post_init__()
        if not self.separable and self.points <= self.dimension + 1:
            raise ConfigError(
                "points must be more than dimension + 1 for a flipped label to break separability,"
                f" got {self.points} points in {self.dimension} dimensions"
            )


@dataclass(frozen=True, kw_only=True)
class AlignmentConfig(SetsConfig):
    """The random sets, and where the weights start."""

    start_at_zero: Annotated[
        bool, Assumption("all weights are zero at the start; off: they point away from w*")
    ] = True


@dataclass(frozen=True, kw_only=True)
class NormConfig(SetsConfig):
    """The random sets, and what an update is."""

    mistakes_only: Annotated[
        bool, Assumption("only mistakes are updates; off: every visit is one")
    ] = True


class LabelledPoints(NamedTuple):
    """Points (N, D) in the unit ball and their classes (N,), +1 or -1; z = y (x, 1)."""

    inputs: Tensor
    signs: Tensor

    @property
    def turned(self) -> Tensor:
        """z, (N, D + 1)."""
        return self.signs[:, None] * with_ones(self.inputs)

    @property
    def longest(self) -> float:
        """R."""
        return float(self.turned.norm(dim=1).max())


def separable_sets(
    given: SetsConfig, seed: int, effort: Effort
) -> list[tuple[LabelledPoints, WidestPlane]]:
    """Random sets, each with its widest plane; margins lie between the least and SPREAD times it.

    Points are uniform in the unit ball, and none lies nearer to a random plane than the margin.
    """
    random = generator(seed, "separable sets")
    count, found = given.sets * REPEATS[effort], []
    for index in range(count):
        gap = given.margin * SPREAD ** (index / max(count - 1, 1))
        plane = torch.randn(given.dimension, generator=random, dtype=torch.float64)
        plane /= plane.norm()
        inputs = plane.new_zeros(0, given.dimension)
        while len(inputs) < given.points:
            drawn = _in_the_ball(20 * given.points, given.dimension, random)
            inputs = torch.cat((inputs, drawn[(drawn @ plane).abs() >= gap]))
        points = LabelledPoints(inputs[: given.points], (inputs[: given.points] @ plane).sign())
        found.append((points, widest_plane(with_ones(points.inputs), points.signs)))
    return found


def _in_the_ball(count: int, dimension: int, random: torch.Generator) -> Tensor:
    """Points that are uniform in the unit ball, (count, D)."""
    directions = torch.randn(count, dimension, generator=random, dtype=torch.float64)
    radius = torch.rand(count, 1, generator=random, dtype=torch.float64)
    return torch.nn.functional.normalize(directions) * radius.pow(1 / dimension)


def walk(points: LabelledPoints, seed: int, most: int, start: Tensor | None = None) -> Tensor:
    """The z of each update, (T, D + 1), until a pass has no mistake or `most` are exceeded.

    Args:
        points: what is learned.
        seed: of the order of each pass.
        most: updates.
        start: weights and bias at the start, (D + 1); zero where there are none.
    """
    width = points.inputs.shape[1]
    begin = torch.zeros(width + 1, dtype=torch.float64) if start is None else start
    weight, bias = begin[None, :width].clone(), begin[width:].clone()
    updates, passes = [torch.zeros(0, width + 1, dtype=torch.float64)], 0
    while sum(map(len, updates)) <= most:
        order = torch.randperm(len(points.inputs), generator=generator(seed, "pass", passes))
        mistakes = perceptron_pass(weight, bias, points.inputs, points.signs[:, None], order)
        if not mistakes.any():
            break
        updates.append(points.turned[order[mistakes[:, 0]]])
        passes += 1
    return torch.cat(updates)


def orthogonal_points(count: int) -> LabelledPoints:
    """Rows of a Hadamard matrix, all of one class: (x, 1) are orthogonal, and each is a mistake."""
    rows = torch.ones(1, 1, dtype=torch.float64)
    while len(rows) < count:
        rows = torch.cat((torch.cat((rows, rows), 1), torch.cat((rows, -rows), 1)))
    return LabelledPoints(rows[:, 1:], torch.ones(count, dtype=torch.float64))


def measure_novikoff(given: NovikoffConfig, seed: int, effort: Effort) -> Verdict:
    """Count the updates on random sets, and on orthogonal points, which need them all."""
    bounds, counts = [], []
    for points, plane in separable_sets(given, seed, effort):
        # No update is a fraction, and rounding may leave a whole bound a little below itself.
        bound = points.longest**2 / plane.margin**2 * (1 + ROUNDING)
        learned = points if given.separable else _one_flipped(points)
        bounds.append(bound)
        counts.append(len(walk(learned, seed, most=math.floor(bound))))
    wrong = sum(count > math.floor(bound) for count, bound in zip(counts, bounds, strict=True))
    share = max(count / bound for count, bound in zip(counts, bounds, strict=True))
    met = [len(walk(orthogonal_points(size), seed, most=2 * size)) for size in ORTHOGONAL]
    ends = (min(*bounds, *ORTHOGONAL), max(*bounds, *ORTHOGONAL))
    return Verdict(
        findings=(
            no_violations("sets with more updates than the bound", wrong, n=len(counts)),
            at_most("updates over the bound, the most of all sets", 1, share, n=len(counts)),
            equals(
                f"updates on {ORTHOGONAL[-1]} orthogonal points, which meet the bound",
                ORTHOGONAL[-1],
                met[-1],
                n=ORTHOGONAL[-1],
            ),
        ),
        chart=ClaimChart(
            x_label="bound, R²/γ²",
            y_label="updates until no mistake is left"
            if given.separable
            else "updates until the walk was stopped",
            series=(
                predicted("at most: the bound", ends, ends),
                measured("random sets", bounds, counts),
                measured("orthogonal points", ORTHOGONAL, met),
            ),
            explanation="Each dot is a set of points; none may lie above the line. Random sets "
            "need far fewer updates than the bound, orthogonal points need all of them."
            if given.separable
            else "One label of each random set is flipped. A walk that no plane can end is stopped "
            "after the pass that took it above the line.",
            log="xy",
        ),
    )


def measure_alignment(given: AlignmentConfig, seed: int, effort: Effort) -> Verdict:
    """Follow w*^T w_t through all updates of all sets."""
    wrong = total = 0
    alignments = margins = torch.zeros(0)
    for points, plane in separable_sets(given, seed, effort):
        start = torch.zeros_like(plane.normal) if given.start_at_zero else -plane.normal
        updates = walk(points, seed, math.ceil(16 / plane.margin**2), start)
        reached = (start + updates.cumsum(dim=0)) @ plane.normal  # (T,)
        times = torch.arange(1, len(updates) + 1, dtype=torch.float64)
        wrong += int((reached < times * plane.margin - 1e-9).sum())
        total += len(updates)
        if len(updates) > len(alignments):  # the longest walk is drawn
            alignments, margins = reached, times * plane.margin
    return Verdict(
        findings=(
            no_violations("updates after which w*ᵀw is below t times the margin", wrong, n=total),
        ),
        chart=_walk_chart(
            "alignment with the widest plane, w*ᵀw",
            predicted("at least: t times the margin", range(1, len(margins) + 1), margins),
            line("the longest walk", range(1, len(margins) + 1), alignments),
            "Every update adds at least the margin: the weights turn towards the widest plane."
            if given.start_at_zero
            else "Every update adds at least the margin, but the walk starts at -1: it has to make "
            "up for its start before it is above the line.",
        ),
    )


def measure_norm(given: NormConfig, seed: int, effort: Effort) -> Verdict:
    """Follow |w_t|^2 through all updates of all sets."""
    wrong = total = 0
    squares = limits = torch.zeros(0)
    for points, plane in separable_sets(given, seed, effort):
        if given.mistakes_only:
            updates = walk(points, seed, math.ceil(4 / plane.margin**2))
        else:
            updates = points.turned
        reached = updates.cumsum(dim=0).square().sum(dim=1)  # (T,)
        most = points.longest**2 * torch.arange(1, len(updates) + 1, dtype=torch.float64)
        wrong += int((reached > most + 1e-9).sum())
        total += len(updates)
        if len(updates) > len(squares):
            squares, limits = reached, most
    return Verdict(
        findings=(no_violations("updates after which |w|² > t R²", wrong, n=total),),
        chart=_walk_chart(
            "squared length of the weights, |w|²",
            predicted("at most: t R²", range(1, len(limits) + 1), limits),
            line("the longest walk", range(1, len(limits) + 1), squares),
            "The example of a mistake never points along the weights, so that an update adds at "
            "most its own squared length: the weights grow slowly."
            if given.mistakes_only
            else "Examples that are right already point along the weights: adding them too makes "
            "the weights grow with the visits, not with their root.",
        ),
    )


def _walk_chart(label: str, bound: Series, walked: Series, explanation: str) -> ClaimChart:
    return ClaimChart(
        x_label="updates, t", y_label=label, series=(bound, walked), explanation=explanation
    )


def _one_flipped(points: LabelledPoints) -> LabelledPoints:
    """The same points; the one deepest within its class gets the other label."""
    signs = points.signs.clone()
    inside = (points.inputs * signs[:, None]).sum(dim=0)
    signs[(points.inputs @ inside * signs).argmax()] *= -1
    return LabelledPoints(points.inputs, signs)


NOVIKOFF = Claim(
    card=Card(
        sentence="On separable data a perceptron makes at most R²/γ² updates, then halts.",
        formula=r"t \le \left\lfloor \frac{R^2}{\gamma^2} \right\rfloor",
        symbols={**SYMBOLS, "t": "updates until a pass has no mistake"},
        source=SOURCE,
        misprint="'Fewer than' the bound instead of 'at most': orthogonal points meet it exactly.",
    ),
    topic="Neurons",
    kind="theorem",
    settings=NovikoffConfig,
    experiment=measure_novikoff,
)
ALIGNMENT = Claim(
    card=Card(
        sentence="After t updates from zero, a perceptron's weights reach at least t margins along "
        "the normal of the widest plane.",
        formula=r"w_0 = 0 \;\Rightarrow\; (w^*)^T w_t \ge t \gamma",
        symbols=SYMBOLS,
        source=SOURCE,
    ),
    topic="Neurons",
    kind="theorem",
    settings=AlignmentConfig,
    experiment=measure_alignment,
)
NORM = Claim(
    card=Card(
        sentence="From zero, the weights of a perceptron grow no faster than the root of its "
        "updates.",
        formula=r"w_0 = 0 \;\Rightarrow\; \|w_t\| \le R \sqrt{t}",
        symbols=SYMBOLS,
        source=SOURCE,
    ),
    topic="Neurons",
    kind="theorem",
    settings=NormConfig,
    experiment=measure_norm,
)
