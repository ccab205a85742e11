"""Bagging: the mean of models that each learned from rows drawn with replacement.

Shapes: M members, N rows, C outputs.
Source: Breiman, "Bagging Predictors" (1996); "Out-of-Bag Estimation" (1996).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, OneOf
from netwright.core.seeding import generator
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec, TargetKind
from netwright.inspection.predictions.ensemble_members import SCORES, score
from netwright.models.catalog import MODELS
from netwright.models.ensembles.averaging import AveragedEnsemble
from netwright.models.ensembles.ensemble import Lesson, MemberCount, build_members, told


@dataclass(frozen=True, kw_only=True)
class BaggingConfig(Config):
    """Settings of bagging."""

    of: Annotated[str, OneOf(MODELS), Doc("the model of each member")] = "mlp"
    settings: Annotated[dict[str, Any], Doc("settings of that model")] = field(default_factory=dict)
    members: Annotated[MemberCount, Doc("number of members")] = 10
    sample: Annotated[
        float,
        Interval(gt=0, le=1),
        Doc("rows drawn for each member, as a fraction of the training rows"),
    ] = 1.0


def bootstrap_rows(count: int, draws: int, random: torch.Generator) -> Tensor:
    """Places of rows drawn with replacement, (draws,); of N draws 1 - 1/e of the N rows are in."""
    return torch.randint(count, (draws,), generator=random)


class Bagging(AveragedEnsemble):
    """Members that each saw a bootstrap sample of the rows."""

    settings: ClassVar[type[Config]] = BaggingConfig
    config: BaggingConfig
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})
    card: ClassVar[Card] = Card(
        sentence="Train each member on rows drawn with replacement and average the answers; the "
        "rows that a member did not draw test it for nothing.",
        formula=r"f(x) = \frac{1}{M} \sum_{m=1}^{M} f_m(x), \quad"
        r" f_m \text{ learned from } (x_{i_k}, y_{i_k})_{k=1}^{n}, \; i_k \sim U\{1, \dots, N\}",
        symbols={
            "x": "one input",
            "f_m": "member m: probabilities or reals, (C)",
            "i_k": "row of draw k; about 63 % of the rows are drawn at all where n = N",
            "M": "number of members",
        },
        source="Breiman (1996), Machine Learning 24, 123-140",
    )

    @classmethod
    def build(cls, config: BaggingConfig, spec: DataSpec) -> Self:
        """As many members as were asked for."""
        return cls(config, spec, build_members([config.of] * config.members, config.settings, spec))

    def fewest_rows(self, count: int) -> int:
        """As many as are drawn."""
        return max(1, round(self.config.sample * count))

    def lessons(self, train: Split, val: Split | None, seed: int) -> Iterator[Lesson]:
        """Every member learns rows of its own drawing, and is then asked for the others."""
        device, count = train.targets.device, len(train)
        sums = torch.zeros(count, self.spec.num_outputs, device=device)
        asked = torch.zeros(count, device=device)  # number of members did not draw the row
        self.count_first(1)
        for place in range(len(self.members)):
            random = generator(seed, "bootstrap", place)
            rows = bootstrap_rows(count, self.fewest_rows(count), random).to(device)
            lesson = self.lesson(place, train.take(rows), val, seed)
            yield lesson
            self.count_first(place + 1)
            left = (torch.bincount(rows, minlength=count) == 0).nonzero().flatten()
            if len(left):
                sums[left] += told(lesson.member.answers(train.take(left)), self.spec.target)
                asked[left] += 1
        self.remarks = [self._out_of_bag(sums, asked, train)]

    def _out_of_bag(self, sums: Tensor, asked: Tensor, train: Split) -> str:
        """How good the mean answer is on rows that none of those who gave it had drawn."""
        rows = asked.nonzero().flatten()
        if not len(rows):
            return "out of bag: every member drew every row"
        found = score(sums[rows] / asked[rows, None], train.targets[rows], self.spec.target)
        name = SCORES[self.spec.target].name
        return f"out of bag: {name} {found:.4g} on {len(rows):,} of {len(train):,} training rows"
