"""One thing that may be wrong with loaded data: what is looked at, in which kinds, and how."""

from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import get_args

from netwright.data.checkup.examination import Answer
from netwright.data.checkup.origin import Origin
from netwright.data.dataset import Data
from netwright.data.spec import InputKind, TargetKind

EVERY_INPUT: frozenset[InputKind] = frozenset(get_args(InputKind))
EVERY_TARGET: frozenset[TargetKind] = frozenset(get_args(TargetKind))


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check of loaded data.

    Args:
        illness: what it finds.
        looks_at: in words, for the list of what was looked at.
        find: data, and where it came from -> what came of looking.
        inputs: the kinds of input that it is for.
        targets: the kinds of target that it is for.
        reads_inputs: whether inputs are looked at; targets alone are in memory, all of them.
    """

    illness: str
    looks_at: str
    find: Callable[[Data, Origin], Answer]
    inputs: Set[InputKind] = EVERY_INPUT
    targets: Set[TargetKind] = EVERY_TARGET
    reads_inputs: bool = True

    @property
    def scope(self) -> str:
        """The kinds that it is for, in words; empty where it is for all."""
        kinds = {"inputs": (self.inputs, EVERY_INPUT), "targets": (self.targets, EVERY_TARGET)}
        return " and ".join(
            f"{' or '.join(sorted(some))} {what}"
            for what, (some, every) in kinds.items()
            if some != every
        )

    def is_for(self, data: Data) -> bool:
        """Whether there is anything to look at."""
        return data.spec.inputs in self.inputs and data.spec.target in self.targets
