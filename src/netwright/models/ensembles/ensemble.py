"""What every ensemble is: members, how much each counts, and what each of them is to learn.

An ensemble does not teach its members: it gives one lesson after the other, whoever drives it lets
the member learn, and what the member then says decides the next lesson.

Shapes: M members, B batch, N examples, C outputs.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, cast

import torch
from annotated_types import Interval
from torch import Tensor, nn

from netwright.core.config import Config, parse
from netwright.core.errors import ConfigError
from netwright.core.evaluation import evaluating
from netwright.core.learner import Examples
from netwright.core.outputs import logits_of
from netwright.core.seeding import derive_seed
from netwright.data.dataset import Split
from netwright.data.loading.stored import evenly_spaced
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.inspection.drawing.view import View
from netwright.inspection.predictions.ensemble_members import measure_ensemble_members
from netwright.models.catalog import MODELS
from netwright.models.model import Model, check_fits

MemberCount = Annotated[int, Interval(gt=0, le=10_000)]  # a name of each is made at once
BLOCK = 1024  # rows that go through a member at a time
MOST_SHOWN = 2000  # rows that the view of the members looks at


class Member(nn.Module):
    """A model of the catalog, and the units in which it answers.

    Networks learn reals that are standardised: the answer is center + scale times their output.

    Args:
        name: of the model in the catalog.
        config: its settings.
        spec: of the data.
    """

    center: Tensor
    scale: Tensor

    def __init__(self, name: str, config: Config, spec: DataSpec) -> None:
        super().__init__()
        self.name, self.config = name, config
        self.model: nn.Module = MODELS.load(name).build(config, spec)
        self.register_buffer("center", torch.zeros(spec.num_outputs))
        self.register_buffer("scale", torch.ones(spec.num_outputs))

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> logits (B, C), or reals in the units of the targets (B, C)."""
        return logits_of(self.model(x)) * self.scale + self.center

    def answers(self, split: Split) -> Tensor:
        """What it says of every example, (N, C); without gradients."""
        places = torch.arange(len(split), device=split.targets.device)
        with evaluating(self):
            return torch.cat([self(split.read(rows)) for rows in torch.split(places, BLOCK)])


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """What one member is to learn.

    Args:
        member: who learns.
        train: from which examples.
        val: the examples to choose by, or None.
        seed: of its weights, the order of the examples, and dropout.
        title: what it is called, for the person who watches.
    """

    member: Member
    train: Split
    val: Split | None
    seed: int
    title: str


class Ensemble(Model):
    """The abstract kind: which lessons there are, and what the answers say together.

    Args:
        config: settings of the ensemble.
        spec: of the data.
        members: not yet trained; at first all count the same.
    """

    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features", "image"})
    embeds: ClassVar[bool] = True  # as far as its members do
    weights: Tensor

    def __init__(self, config: Config, spec: DataSpec, members: Sequence[Member]) -> None:
        super().__init__(config, spec)
        self.members = nn.ModuleList(members)
        self.register_buffer("weights", torch.full((len(members),), 1 / len(members)))
        self.remarks: list[str] = []

    @abstractmethod
    def lessons(self, train: Split, val: Split | None, seed: int) -> Iterator[Lesson]:
        """One lesson after the other; a lesson is learned when the next one is asked for.

        Between lessons the ensemble consists of the members that have learned. What is found out on
        the way goes into `remarks`.
        """

    @abstractmethod
    def combine(self, outputs: Tensor, weights: Tensor) -> Tensor:
        """The answers (M, B, C) of members that count `weights` (M,) as one, (B, C)."""

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> logits or reals (B, C), by the members that count."""
        if torch.compiler.is_exporting():  # a traced graph does not know which of them count
            every = torch.stack([member(x) for member in self.members])
            return self.combine(every, self.weights)
        counted = self.weights.nonzero().flatten()
        outputs = torch.stack([self.members[place](x) for place in counted.tolist()])  # (M, B, C)
        return self.combine(outputs, self.weights[counted])

    @property
    def stands_alone(self) -> bool:
        """Whether a member by itself answers the question."""
        return True

    @property
    def grows(self) -> bool:
        """Whether the first few members are an ensemble of the same kind."""
        return True

    def fewest_rows(self, count: int) -> int:
        """The rows of the smallest lesson, where there are so many to learn from."""
        return count

    def combine_first(self, outputs: Tensor, number: int) -> Tensor:
        """What the first so many of all members say together: of (M, B, C), (B, C)."""
        return self.combine(outputs[:number], self.weights[:number])

    def count_first(self, number: int) -> None:
        """Let the first so many members count the same, and the others nothing."""
        self.weights.zero_()
        self.weights[:number] = 1 / number

    def prune(self) -> None:
        """Let go of the last members that do not count yet, where the lessons end before them."""
        self._keep(int(self.weights.nonzero().max()) + 1)

    def lesson(self, place: int, train: Split, val: Split | None, seed: int) -> Lesson:
        """The lesson of the member at this place, with a seed of its own."""
        return Lesson(
            member=cast(Member, self.members[place]),
            train=train,
            val=val,
            seed=derive_seed(seed, "member", place),
            title=f"member {place + 1}/{len(self.members)}",
        )

    def own_views(self, examples: Examples) -> Mapping[str, View]:
        """The score of each member beside that of the ensemble."""
        rows = evenly_spaced(len(examples.targets), MOST_SHOWN).to(examples.targets.device)
        shown = Split(inputs=examples.inputs[rows], targets=examples.targets[rows])
        members = [cast(Member, member) for member in self.members]
        outputs = torch.stack([member.answers(shown) for member in members])  # (M, N, C)
        first = range(1, len(members) + 1) if self.grows else ()
        view = measure_ensemble_members(
            self._told(outputs).unbind() if self.stands_alone else (),
            [self._told(self.combine_first(outputs, number)) for number in first],
            self._told(self.combine(outputs, self.weights)),
            shown.targets,
            target=self.spec.target,
            names=[member.name for member in members],
            weights=self.weights,
        )
        return {"ensemble-members": view}

    def _told(self, outputs: Tensor) -> Tensor:
        return told(outputs, self.spec.target)

    def _keep(self, count: int) -> None:
        del self.members[count:]
        self.weights = self.weights[:count].clone()

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        saved = state_dict.get(prefix + "weights")
        if saved is not None:
            self._keep(len(saved))  # it may have ended with fewer members than it was to have
        super()._load_from_state_dict(state_dict, prefix, *rest)


def build_members(
    names: Sequence[str], settings: Mapping[str, Any], spec: DataSpec, where: str = "model.settings"
) -> list[Member]:
    """Members of these names with these settings, each with weights of its own."""
    members = []
    for name in names:
        kind = MODELS.load(name)
        if issubclass(kind, Ensemble):
            raise ConfigError(f"the members of an ensemble must be single models, got {name!r}")
        check_fits(kind, name, spec)
        members.append(Member(name, parse(kind.settings, settings, where), spec))
    return members


def told(outputs: Tensor, target: TargetKind) -> Tensor:
    """Logits as probabilities, reals as they are."""
    if target == "real":
        return outputs
    return outputs.softmax(dim=-1) if target == "class" else outputs.sigmoid()
