"""What the stepper found, as plain numbers: values, local derivatives, gradients and checks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from netwright.inspection.drawing.wording import number
from netwright.inspection.stepper.numeric_check import Check
from netwright.inspection.stepper.operation_words import is_quiet

MOST_ENTRIES = 24  # numbers of a tensor that are kept one by one


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A tensor to be shown: a small one in full, of a large one what is typical.

    Args:
        shape: complex numbers count as two, the last place of the shape.
        entries: row by row; empty where there are many.
        low: the smallest entry.
        mean: of all entries.
        high: the largest entry.
    """

    shape: tuple[int, ...]
    entries: tuple[float, ...]
    low: float
    mean: float
    high: float

    @classmethod
    def of(cls, tensor: Tensor) -> "Numbers":
        """Of any tensor; True is 1."""
        real = torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor.double()
        flat = real.flatten()
        empty = flat.numel() == 0
        return cls(
            shape=tuple(real.shape),
            entries=tuple(flat.tolist()) if flat.numel() <= MOST_ENTRIES else (),
            low=0.0 if empty else float(flat.min()),
            mean=0.0 if empty else float(flat.mean()),
            high=0.0 if empty else float(flat.max()),
        )

    def __str__(self) -> str:
        if len(self.entries) == 1:
            return number(self.entries[0])
        if self.entries:
            return _nested(iter(self.entries), [size for size in self.shape if size != 1])
        size = "x".join(str(one) for one in self.shape)
        return f"{size}: {number(self.low)} .. {number(self.high)}, mean {number(self.mean)}"

    def brief(self, letters: int) -> str:
        """In full where that fits, else from the smallest to the largest."""
        full = str(self)
        return (
            full if self.entries and len(full) <= letters else f"{self.low:.3g} .. {self.high:.3g}"
        )


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """What one operation hands on to one of its inputs, going back.

    Args:
        target: the number of the value that gets it.
        amount: local derivative times the gradient that arrived.
        local: the local derivative: slopes, or a matrix (outputs x inputs); None where it is large.
        kind: how `local` is to be read.
        check: of the local derivative, against a measured one.
    """

    target: int
    amount: Numbers
    local: Numbers | None
    kind: Literal["slopes", "matrix", "large"]
    check: Check


@dataclass(frozen=True, kw_only=True)
class Step:
    """A value of the computation, and what came back to it.

    Args:
        kind: given (input, parameter) or computed (operation).
        name: of the operation or parameter.
        where: the path of the module in which it was computed.
        moment: the step in time ("t=2"), or the call of a module that is called several times.
        inputs: the numbers of the values that it was computed from.
        value: what it is.
        gradient: of the loss by this value: the sum of what its users handed on.
        contributions: what it hands on itself, one an input.
        check: of the gradient, against the loss with this value moved; None where it was left out.
        constants: what else it was computed from, by name.
        usual: whether it ran with the settings that the formula of its name is for.
    """

    kind: Literal["input", "parameter", "operation"]
    name: str
    where: str
    moment: str
    inputs: tuple[int, ...]
    value: Numbers
    gradient: Numbers
    contributions: tuple[Contribution, ...]
    check: Check | None
    constants: tuple[tuple[str, Numbers], ...] = ()
    usual: bool = True

    @property
    def place(self) -> str:
        """Where and when, in words."""
        return " ".join(part for part in (self.where, self.moment) if part)

    @property
    def quiet(self) -> bool:
        """Whether it only moves numbers."""
        return is_quiet(self.name)


def arrivals(steps: Sequence[Step], number: int) -> Iterator[tuple[int, Contribution]]:
    """The users of a value, the last first, with what each of them hands to it."""
    for user in reversed(range(len(steps))):
        for contribution in steps[user].contributions:
            if contribution.target == number:
                yield user, contribution


def label(steps: Sequence[Step], place: int) -> str:
    """How a value is called: by its name if it was given, else by its number and operation."""
    step = steps[place]
    return step.name if step.kind != "operation" else f"#{place} {step.name}"


def _nested(entries: Iterator[float], sizes: list[int]) -> str:
    """[[1, 2], [3, 4]] without the brackets of places of size 1."""
    if not sizes:
        return number(next(entries))
    return f"[{', '.join(_nested(entries, sizes[1:]) for _ in range(sizes[0]))}]"
