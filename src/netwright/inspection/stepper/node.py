"""The values of a tape: what was given, and what operations made of it, which can be run again.

v_k = f_k(v_i, v_j, ...),    i, j < k
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from torch import Tensor

from netwright.core.trees import map_tensors, tensors_of

Replay = Callable[[Sequence[Tensor]], Tensor]


@dataclass(frozen=True, eq=False)
class Node:
    """A value: something given, or what an operation made of earlier values.

    Args:
        kind: whether it was given (input, parameter) or computed.
        name: of the operation or the parameter.
        where: the path of the module in which it was computed.
        moment: which step in time or call of this module it was, in words; empty where there is
            one only.
        inputs: the numbers of the values that it was computed from.
        value: what it is.
        replay: computes it from such values; None for what was given.
        constants: what else it was computed from, by name: targets, masks, plain numbers.
        usual: whether it ran with the settings that the formula of its name is for.
    """

    kind: Literal["input", "parameter", "operation"]
    name: str
    where: str
    moment: str
    inputs: tuple[int, ...]
    value: Tensor
    replay: Replay | None
    constants: tuple[tuple[str, Tensor], ...] = ()
    usual: bool = True


@dataclass(frozen=True, eq=False)
class Replayed:
    """An operation that can be run again: `slots` are the ids of the tensors that may differ.

    `place` is which of its results is meant; None: its first argument, which it changes.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    slots: tuple[int, ...]
    place: int | None

    def __call__(self, inputs: Sequence[Tensor]) -> Tensor:
        """The value, of other inputs."""
        others = dict(zip(self.slots, inputs, strict=True))
        args, kwargs = map_tensors(lambda one: others.get(id(one), one), (self.args, self.kwargs))
        if self.place is None:
            target: Tensor = args[0].clone()
            self.function(target, *args[1:], **kwargs)
            return target
        return results_of(self.function(*args, **kwargs))[self.place]


def results_of(result: Any) -> list[Tensor]:
    """The tensors that a function gave; torch's named results (values, indices) are a tuple."""
    return tensors_of(tuple(result) if isinstance(result, tuple) else result)


def needed_for(nodes: Sequence[Node], last: int) -> tuple[Node, ...]:
    """The nodes from which the last one is computed, numbered anew."""
    needed = {last}
    for number in range(last, -1, -1):
        if number in needed:
            needed.update(nodes[number].inputs)
    numbers = {old: new for new, old in enumerate(sorted(needed))}
    return tuple(
        replace(nodes[old], inputs=tuple(numbers[one] for one in nodes[old].inputs))
        for old in numbers
    )
