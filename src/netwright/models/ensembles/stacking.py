r"""Stacking: models of several kinds, weighed by what they say of rows they did not learn from.

    reals     w = argmin_{w >= 0} sum_i (y_i - sum_m w_m f_m^{-k(i)}(x_i))^2
    classes   w = argmax_{w >= 0, sum w = 1} sum_i log sum_m w_m p_m^{-k(i)}(y_i | x_i)

where f^{-k} learned from all folds but the k-th, and k(i) is the fold of row i.

Shapes: M members, N rows, C classes, K reals or outputs.
Source: Wolpert, "Stacked Generalization" (1992); Breiman, "Stacked Regressions" (1996); Smyth and
Wolpert, "Linearly Combining Density Estimators via Stacking" (1999).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self, cast

import torch
from annotated_types import Ge
from torch import Tensor

from netwright.core.card import Card
from netwright.core.checks import nearest
from netwright.core.config import Config, Doc, NotNegative
from netwright.core.errors import ConfigError
from netwright.core.seeding import derive_seed, seeded
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec, TargetKind
from netwright.data.split import k_folds
from netwright.models.catalog import MODELS
from netwright.models.ensembles.averaging import AveragedEnsemble
from netwright.models.ensembles.ensemble import Lesson, Member, build_members, told

MOST_ROUNDS, SMALLEST_STEP = 10_000, 1e-9


@dataclass(frozen=True, kw_only=True)
class StackingConfig(Config):
    """Settings of stacking."""

    of: Annotated[tuple[str, ...], Doc("the names of the models: mlp,random-forest")] = (
        "mlp",
        "random-forest",
    )
    settings: Annotated[
        dict[str, dict[str, Any]], Doc("settings of the models, by their names")
    ] = field(default_factory=dict)
    folds: Annotated[int, Ge(2), Doc("number of cross-validation folds")] = 5
    weights: Annotated[
        tuple[NotNegative, ...],
        Doc("weight of each model, in order; default: fitted by cross-validation"),
    ] = ()

    def __post_init__(self) -> None:
        """Check the fields, and that the settings are of models that are there."""
        super().__post_init__()
        if len(self.of) < 2:
            raise ConfigError(f"of must name at least 2 models, got {', '.join(self.of) or 'none'}")
        for name in self.of:
            MODELS.check(name)
        for name in self.settings:
            if name not in self.of:
                hint = nearest(name, self.of) or f"; there are {', '.join(self.of)}"
                raise ConfigError(f"settings are given for {name!r}, which is not stacked{hint}")
        if self.weights and (len(self.weights) != len(self.of) or not any(self.weights)):
            raise ConfigError(
                f"weights must be one for each of {', '.join(self.of)} and not all 0, "
                f"got {', '.join(map(str, self.weights))}"
            )


def mixture_weights(chances: Tensor, amounts: Tensor) -> Tensor:
    """Weights (M,) >= 0 of sum 1 with the highest likelihood of the mixture.

    By expectation and maximisation: the log-likelihood is concave, so that every start ends at its
    maximum.

    Args:
        chances: the probability that each member gave to what was true, (M, N).
        amounts: how much each row counts, (N,).
    """
    chances = chances.double().clamp_min(torch.finfo(torch.float64).tiny)
    weights = torch.full((len(chances), 1), 1 / len(chances), dtype=torch.float64)
    for _ in range(MOST_ROUNDS):
        shares = weights * chances  # (M, N)
        shares = shares / shares.sum(dim=0)
        better = (shares @ amounts.double() / amounts.sum())[:, None]
        step, weights = float((better - weights).abs().max()), better
        if step < SMALLEST_STEP:
            break
    return weights[:, 0]


def least_squares_weights(answers: Tensor, targets: Tensor, amounts: Tensor) -> Tensor:
    """Weights (M,) >= 0 of the smallest squared error; outputs count alike, whatever their units.

    Args:
        answers: of the members, (M, N, K).
        targets: what is true, (N, K).
        amounts: how much each row counts, (N,).
    """
    from scipy.optimize import nnls  # noqa: PLC0415 - slow

    answers, targets = answers.double(), targets.double()
    spread = targets.std(dim=0, correction=0)
    factor = amounts.double().sqrt()[:, None] / torch.where(spread > 0, spread, 1.0)  # (N, K)
    columns = (answers * factor).flatten(1).T  # (N K, M)
    wanted = (targets * factor).flatten()
    weights = torch.tensor(nnls(columns.numpy(), wanted.numpy())[0])
    if not bool(weights.any()):  # no member helps: the one that errs least stands for all
        errors = (columns - wanted[:, None]).square().sum(dim=0)
        weights[errors.argmin()] = 1.0
    return weights


class Stacking(AveragedEnsemble):
    """Members of several kinds, and one weight for each."""

    settings: ClassVar[type[Config]] = StackingConfig
    config: StackingConfig
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "real"})
    card: ClassVar[Card] = Card(
        sentence="Train several models, ask each about rows that it did not learn from, and weigh "
        "them so that their sum is best there.",
        formula=r"f(x) = \sum_m w_m f_m(x), \quad"
        r" w = \arg\min_{w \ge 0} \sum_i \ell(y_i, \sum_m w_m f_m^{-k(i)}(x_i))",
        symbols={
            "f_m": "model m, learned from all rows: probabilities (C) or reals (K)",
            "f_m^{-k(i)}": "the same without the fold that row i is in",
            "w_m": "its weight; for classes they add to 1",
            r"\ell": "minus the log-probability of the class, or the squared error",
        },
        source="Wolpert (1992), Neural Networks 5, 241-259; Breiman (1996), Machine Learning 24, "
        "49-64",
    )

    @classmethod
    def build(cls, config: StackingConfig, spec: DataSpec) -> Self:
        """One member a name."""
        return cls(config, spec, _members(config, spec))

    @property
    def grows(self) -> bool:
        """The weights are found for all members at once."""
        return False

    def fewest_rows(self, count: int) -> int:
        """All but those of the largest fold."""
        if self.config.weights:
            return count
        folds = self.config.folds
        if folds > count:
            got = "1 sample" if count == 1 else f"{count} samples"
            raise ConfigError(f"{folds} folds need at least {folds} training rows, got {got}")
        return count - math.ceil(count / folds)

    def lessons(self, train: Split, val: Split | None, seed: int) -> Iterator[Lesson]:
        """Every model on all rows, so that it can answer; then each on all folds but one."""
        self.count_first(1)
        for place in range(len(self.members)):
            yield self.lesson(place, train, val, seed)
            self.count_first(place + 1)
        if self.config.weights:
            given = torch.tensor(self.config.weights)
            self.weights.copy_(given if self.spec.target == "real" else given / given.sum())
            return
        classes = train.targets.cpu() if self.spec.target == "class" else None
        folds = k_folds(len(train), self.config.folds, seed=seed, classes=classes)
        heard = torch.zeros(len(self.members), len(train), self.spec.num_outputs)
        device = train.targets.device
        for number, (seen, held_out) in enumerate(folds):
            with seeded(seed):  # first weights are drawn anew for the lesson
                members = _members(self.config, self.spec)
            for place, member in enumerate(members):
                yield Lesson(
                    member=member.to(device),
                    train=train.take(seen.to(device)),
                    val=val,
                    seed=derive_seed(seed, "fold", number, place),
                    title=f"fold {number + 1}/{len(folds)}, {member.name}",
                )
                answers = member.answers(train.take(held_out.to(device)))
                heard[place, held_out] = told(answers, self.spec.target).cpu()
        self.weights.copy_(self._weigh(heard, train))
        shares = zip(self.members, self.weights.tolist(), strict=True)
        counts = ", ".join(f"{cast(Member, member).name} {share:.3f}" for member, share in shares)
        self.remarks = [f"weights fitted on the held-out rows: {counts}"]

    def _weigh(self, heard: Tensor, train: Split) -> Tensor:
        """The best weights for what was said (M, N, C) of rows held out."""
        targets, given = train.targets.cpu(), train.weights
        amounts = torch.ones(len(train)) if given is None else given.cpu()
        if self.spec.target == "real":
            return least_squares_weights(heard, targets, amounts)
        of_truth = targets.expand(len(heard), -1)[..., None]  # (M, N, 1)
        return mixture_weights(heard.gather(2, of_truth)[..., 0], amounts)


def _members(config: StackingConfig, spec: DataSpec) -> list[Member]:
    return [
        member
        for name in config.of
        for member in build_members(
            [name], config.settings.get(name, {}), spec, f"model.settings.{name}"
        )
    ]
