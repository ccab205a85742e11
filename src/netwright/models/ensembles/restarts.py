"""Random restarts: the same model from several first weights, averaged.

Shapes: M members, C outputs.
Source: Hansen and Salamon, "Neural Network Ensembles" (1990).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self

from netwright.core.card import Card
from netwright.core.config import Config, Doc, OneOf
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec, TargetKind
from netwright.models.catalog import MODELS
from netwright.models.ensembles.averaging import AveragedEnsemble
from netwright.models.ensembles.ensemble import Lesson, MemberCount, build_members


@dataclass(frozen=True, kw_only=True)
class RestartsConfig(Config):
    """Settings of averaged restarts."""

    of: Annotated[str, OneOf(MODELS), Doc("the model of each member")] = "mlp"
    settings: Annotated[dict[str, Any], Doc("settings of that model")] = field(default_factory=dict)
    members: Annotated[MemberCount, Doc("number of members")] = 5


class Restarts(AveragedEnsemble):
    """Members that differ in nothing but their seed."""

    settings: ClassVar[type[Config]] = RestartsConfig
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})
    card: ClassVar[Card] = Card(
        sentence="Train the same model from several random starts and average the answers: in "
        "squared error never worse than its members are on average.",
        formula=r"f(x) = \frac{1}{M} \sum_{m=1}^{M} f_m(x), \quad"
        r" (f - y)^2 = \frac{1}{M} \sum_m (f_m - y)^2 - \frac{1}{M} \sum_m (f_m - f)^2",
        symbols={
            "x": "one input",
            "f_m": "member m: probabilities or reals, (C)",
            "y": "what is true, (C)",
            "M": "number of members",
        },
        source="Hansen and Salamon (1990), IEEE Transactions on Pattern Analysis and Machine "
        "Intelligence 12, 993-1001; Krogh and Vedelsby (1995)",
    )

    @classmethod
    def build(cls, config: RestartsConfig, spec: DataSpec) -> Self:
        """As many members as were asked for."""
        return cls(config, spec, build_members([config.of] * config.members, config.settings, spec))

    def lessons(self, train: Split, val: Split | None, seed: int) -> Iterator[Lesson]:
        """Every member learns all rows, from first weights of its own."""
        self.count_first(1)
        for place in range(len(self.members)):
            yield self.lesson(place, train, val, seed)
            self.count_first(place + 1)
