"""Many classes from models of two: each class against the rest, or each against each other.

Shapes: B batch, N examples, K classes, M members.
Source: Rifkin and Klautau, "In Defense of One-Vs-All Classification" (2004); Hastie and Tibshirani,
"Classification by Pairwise Coupling" (1998).
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Annotated, Any, ClassVar, Self, cast

import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, OneOf, Size, parse
from netwright.core.errors import DataError
from netwright.core.learner import Examples, Learner
from netwright.core.outputs import logits_of
from netwright.core.seeding import derive_seed
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.models.catalog import MODELS
from netwright.models.model import Model, check_fits
from netwright.models.neurons.plain_descent import descend


@dataclass(frozen=True, kw_only=True)
class MulticlassConfig(Config):
    """Settings of a classifier that is made of classifiers of two classes."""

    base: Annotated[str, OneOf(MODELS), Doc("the binary classifier")] = "perceptron"
    base_settings: Annotated[dict[str, Any], Doc("settings of each binary classifier")] = field(
        default_factory=dict
    )
    epochs: Annotated[Size, Doc("epochs, for a base trained by gradient descent")] = 100


@dataclass(frozen=True, kw_only=True)
class OneVsRestConfig(MulticlassConfig):
    """Settings of one against the rest."""


@dataclass(frozen=True, kw_only=True)
class OneVsOneConfig(MulticlassConfig):
    """Settings of one against one."""


class Multiclass(Model, Learner):
    """The abstract kind: which two-class problems there are, and what their scores say together."""

    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features", "image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class"})

    def __init__(self, config: MulticlassConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.epochs = config.epochs
        kind = MODELS.load(config.base)
        settings = parse(kind.settings, config.base_settings, "base_settings")
        members = []
        for first, second in self.problems():
            names = tuple(_name(spec, side) for side in (first, second))
            two = replace(spec, num_outputs=2, class_names=names)
            check_fits(kind, config.base, two)
            members.append(kind.build(settings, two))
        self.members = nn.ModuleList(members)

    @classmethod
    def build(cls, config: MulticlassConfig, spec: DataSpec) -> Self:
        """As many members as the number of classes asks for."""
        return cls(config, spec)

    @abstractmethod
    def problems(self) -> list[tuple[int | None, int]]:
        """The classes that each member tells apart: its 0 and its 1; None is all others."""

    def member_scores(self, x: Tensor) -> Tensor:
        """(B, ...) -> what speaks for each member's second class against its first, (B, M)."""
        logits = torch.stack([logits_of(member(x)) for member in self.members], dim=1)  # (B, M, 2)
        return logits[..., 1] - logits[..., 0]

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """One step a member, which learns its two classes to the end."""
        counts = torch.bincount(data.targets, minlength=self.spec.num_outputs)
        if not bool(counts.all()):
            missing = int((counts == 0).nonzero()[0])
            raise DataError(f"every class needs examples, got none of {_name(self.spec, missing)}")
        for index, (member, sides) in enumerate(zip(self.members, self.problems(), strict=True)):
            own = _two_classes(data, *sides)
            own_seed = derive_seed(seed, "member", index)
            if isinstance(member, Learner):
                for _ in member.fit_steps(own, own_seed):
                    pass
            else:
                descend(member, own, self.epochs, own_seed)
            yield {"member_accuracy": _accuracy(cast(Model, member), own)}


class OneVsRest(Multiclass):
    """K members, each for one class against all others; the highest score wins."""

    settings: ClassVar[type[Config]] = OneVsRestConfig
    card: ClassVar[Card] = Card(
        sentence="One model per class against the rest; the highest score wins.",
        formula=r"f(x) = \arg\max_k s_k(x)",
        symbols={"s_k": "score of class k against the rest, by a model of two classes"},
        source="Rifkin and Klautau (2004), Journal of Machine Learning Research 5, 101-141",
    )

    def problems(self) -> list[tuple[int | None, int]]:
        """Each class against all others."""
        return [(None, label) for label in range(self.spec.num_outputs)]

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> the members' scores as logits (B, K)."""
        return self.member_scores(x)


class OneVsOne(Multiclass):
    """K (K - 1) / 2 members, one a pair of classes; the class with the most votes wins."""

    settings: ClassVar[type[Config]] = OneVsOneConfig
    card: ClassVar[Card] = Card(
        sentence="One model per pair of classes; the class with the most votes wins.",
        formula=r"f(x) = \arg\max_k \sum_{j \ne k} 1[s_{kj}(x) > 0]",
        symbols={"s_{kj}": "score of class k against class j, by a model of the two"},
        source="Hastie and Tibshirani (1998), Annals of Statistics 26, 451-471",
    )
    first: Tensor
    second: Tensor

    def __init__(self, config: MulticlassConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        pairs = torch.tensor(self.problems())  # (M, 2)
        sides = nn.functional.one_hot(pairs, spec.num_outputs).float()  # (M, 2, K)
        self.register_buffer("first", sides[:, 0], persistent=False)
        self.register_buffer("second", sides[:, 1], persistent=False)

    def problems(self) -> list[tuple[int | None, int]]:
        """Each class against each later one."""
        return list(combinations(range(self.spec.num_outputs), 2))

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> votes as logits (B, K); the summed scores, squeezed below a vote, break ties.

        A class never gains a vote by its scores: they add less than 1/3 in size.
        """
        scores = self.member_scores(x)  # (B, M)
        won = (scores > 0).to(scores)
        votes = won @ self.second + (1 - won) @ self.first
        sums = scores @ (self.second - self.first)
        return votes + sums / (3 * (sums.abs() + 1))


def _two_classes(data: Examples, first: int | None, second: int) -> Split:
    """The examples of the two sides; 1 is the second."""
    targets = (data.targets == second).long()
    split = Split(inputs=data.inputs, targets=targets, weights=data.weights)
    if first is None:
        return split
    return split.take(((data.targets == first) | (data.targets == second)).nonzero().flatten())


def _accuracy(member: Model, own: Split) -> float:
    was_training = member.training
    member.eval()
    with torch.no_grad():
        right = logits_of(member(own.inputs)).argmax(dim=1) == own.targets
    member.train(was_training)
    return float(right.double().mean())


def _name(spec: DataSpec, label: int | None) -> str:
    if label is None:
        return "the rest"
    return spec.class_names[label] if spec.class_names else f"class {label}"
