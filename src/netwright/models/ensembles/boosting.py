"""Boosting: each member learns what those before it got wrong.

Classes by AdaBoost for several classes (SAMME), reals by fitting what is left.

Shapes: M members, B batch, N rows, C classes, K reals.
Source: Zhu, Zou, Rosset and Hastie, "Multi-class AdaBoost" (2009); Friedman, "Greedy Function
Approximation" (2001); Buehlmann and Yu, "Boosting with the L2 Loss" (2003).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self

import torch
from annotated_types import Interval
from torch import Tensor
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.config import Config, Doc, OneOf
from netwright.core.errors import DataError
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec, TargetKind
from netwright.metrics.samples import weighted_mean
from netwright.models.catalog import MODELS
from netwright.models.ensembles.ensemble import Ensemble, Lesson, MemberCount, build_members

TREE = "decision-tree"
DEPTH = {"class": 1, "real": 3}  # of the trees that are boosted: weak on purpose
SHRINKAGE = {"class": 1.0, "real": 0.1}


@dataclass(frozen=True, kw_only=True)
class BoostingConfig(Config):
    """Settings of boosting."""

    of: Annotated[str, OneOf(MODELS), Doc("the model of each member")] = TREE
    settings: Annotated[
        dict[str, Any],
        Doc(
            "settings of that model; by default a tree has max_depth 1 for classification, 3 for "
            "regression"
        ),
    ] = field(default_factory=dict)
    members: Annotated[MemberCount, Doc("maximum number of members")] = 50
    shrinkage: Annotated[
        Annotated[float, Interval(gt=0, le=1)] | None,
        Doc(
            "learning rate: the factor of each member; default: 1 for classification, 0.1 for "
            "regression"
        ),
    ] = None


def vote_weight(error: float, num_classes: int) -> float:
    """log((1 - e) / e) + log(C - 1): above 0 for whoever is better than chance."""
    return math.log((1 - error) / error) + math.log(num_classes - 1)


class Boosting(Ensemble):
    """Members that count by how well they did, each on rows that the last ones made important."""

    settings: ClassVar[type[Config]] = BoostingConfig
    config: BoostingConfig
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "real"})
    card: ClassVar[Card] = Card(
        sentence="Train members one after the other: for classes on rows that count more the more "
        "often they were wrong, for reals on what is left to explain; the answer is their sum.",
        formula=r"F = \sum_m \alpha_m 1[h_m = c], \;"
        r" \alpha_m = \ln\frac{1 - e_m}{e_m} + \ln(C - 1), \;"
        r" w_i \leftarrow w_i e^{\alpha_m 1[h_m(x_i) \ne y_i]}; \qquad"
        r" F = \bar{y} + \nu \sum_m h_m, \; h_m \approx y - F_{m-1}",
        symbols={
            "h_m": "member m: a class, or reals (K)",
            "e_m": "share of the rows that it gets wrong, by weight",
            r"\alpha_m": "how much it counts",
            "w_i": "weight of row i, all together 1",
            "C": "number of classes",
            r"\nu": "the shrinkage",
            "F": "votes of class c, given as logits: with two classes their softmax is the estimate"
            " of the probability, with many members it is surer than it is right",
        },
        source="Zhu, Zou, Rosset and Hastie (2009), Statistics and Its Interface 2, 349-360; "
        "Friedman (2001), Annals of Statistics 29, 1189-1232",
        misprint="With more than two classes the ln(C - 1) is often left out: then members that "
        "are right for fewer than half of the rows count below 0.",
    )
    start: Tensor

    def __init__(self, config: BoostingConfig, spec: DataSpec) -> None:
        settings = config.settings
        if config.of == TREE:
            settings = {"max_depth": DEPTH[spec.target], **settings}
        super().__init__(config, spec, build_members([config.of] * config.members, settings, spec))
        self.register_buffer("start", torch.zeros(spec.num_outputs))
        self.shrinkage = config.shrinkage or SHRINKAGE[spec.target]

    @classmethod
    def build(cls, config: BoostingConfig, spec: DataSpec) -> Self:
        """As many members as it may have at most."""
        return cls(config, spec)

    @property
    def stands_alone(self) -> bool:
        """A member that learned what is left of reals does not."""
        return self.spec.target == "class"

    def combine(self, outputs: Tensor, weights: Tensor) -> Tensor:
        """The sum of votes (B, C), or of reals and their start (B, K)."""
        if self.spec.target == "class":
            outputs = F.one_hot(outputs.argmax(dim=-1), outputs.shape[-1]).to(outputs)
        return self.start + (weights.to(outputs)[:, None, None] * outputs).sum(dim=0)

    def lessons(self, train: Split, val: Split | None, seed: int) -> Iterator[Lesson]:
        """One a member, until they are all there or there is nothing left to learn."""
        self.count_first(1)
        by_target = {"class": self._class_lessons, "real": self._real_lessons}
        yield from by_target[self.spec.target](train, val, seed)

    def _class_lessons(self, train: Split, val: Split | None, seed: int) -> Iterator[Lesson]:
        """The same rows, with other weights each time; rounds end where they lead nowhere."""
        classes, given = self.spec.num_outputs, train.weights
        amounts = torch.ones(len(train)) if given is None else given.cpu()
        amounts = amounts.double() / amounts.double().sum()
        for place in range(len(self.members)):
            weights = (len(train) * amounts).float().to(train.targets.device)
            seen = train.with_targets(train.targets, weights)
            lesson = self.lesson(place, seen, val, seed)
            yield lesson
            wrong = (lesson.member.answers(train).argmax(dim=1) != train.targets).cpu()
            error = float(amounts[wrong].sum())
            if error >= 1 - 1 / classes:
                self._end_at_chance(place, error)
                return
            if error == 0:  # it would count without end: it outvotes the others
                self.weights[place] = 1 + self.weights[:place].sum()
                self.remarks = [f"boosting stops: {lesson.title} predicts every row correctly"]
                self.prune()
                return
            counts = self.shrinkage * vote_weight(error, classes)
            self.weights[place] = counts
            amounts = torch.where(wrong, amounts * math.exp(counts), amounts)
            amounts = amounts / amounts.sum()

    def _end_at_chance(self, place: int, error: float) -> None:
        """Leave the member out; where it is the first, there is nothing to boost."""
        found = f"{self.config.of} is wrong for {error:.1%} of the weight of the rows"
        if place == 0:
            raise DataError(f"boosting needs members that are better than chance: {found}")
        title = f"member {place + 1}/{len(self.members)}"
        self.remarks = [f"boosting stops: {title} is no better than chance, {found}"]
        self.prune()

    def _real_lessons(self, train: Split, val: Split | None, seed: int) -> Iterator[Lesson]:
        """The same rows, with what is left of their targets each time."""
        self.start.copy_(weighted_mean(train.targets, train.weights))
        left = _without(train, self.start)
        left_val = None if val is None else _without(val, self.start)
        for place in range(len(self.members)):
            lesson = self.lesson(place, left, left_val, seed)
            yield lesson
            self.weights[place] = self.shrinkage
            left = _without(left, self.shrinkage * lesson.member.answers(left))
            if left_val is not None:
                left_val = _without(left_val, self.shrinkage * lesson.member.answers(left_val))


def _without(split: Split, explained: Tensor) -> Split:
    """What is left of the targets."""
    return split.with_targets(split.targets - explained, split.weights)
