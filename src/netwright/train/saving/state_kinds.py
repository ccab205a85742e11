"""Whether the state of a checkpoint is of the kinds that a run saves: forged ones have right sums.

What is wrong is told before training goes on, in one sentence; a number that is another number
cannot be told from a run's own.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from torch import Tensor, nn

from netwright.core.checks import is_finite_number
from netwright.core.errors import DataError, NetwrightError
from netwright.core.seeding import random_state, set_random_state

Given = ParamSpec("Given")
Result = TypeVar("Result")
# Of these an optimizer has one number for each of its weight's.
AS_LARGE_AS_WEIGHTS = frozenset(
    {"exp_avg", "exp_avg_sq", "max_exp_avg_sq", "momentum_buffer", "square_avg", "sum", "acc_delta"}
)


def telling_forgeries(
    load: Callable[Concatenate[Path, Given], Result],
) -> Callable[Concatenate[Path, Given], Result]:
    """Let what loads a folder end in one sentence, whatever the folder makes it stumble over."""

    @wraps(load)
    def told(folder: Path, /, *given: Given.args, **named: Given.kwargs) -> Result:
        try:
            return load(folder, *given, **named)
        except NetwrightError:
            raise
        except Exception as error:  # of torch, of a callback, of Python
            raise DataError(
                f"{folder} does not contain a valid training state: {error!r:.100}"
            ) from None

    return told


def check_counts(values: Mapping[str, Any], counters: tuple[str, ...]) -> None:
    """Refuse counters that do not count, and a clock that shows no time."""
    for name in counters:
        if type(values[name]) is not int or values[name] < 0:
            raise TypeError(f"{name} must be a non-negative integer")
    if not is_finite_number(values["elapsed"]):
        raise TypeError("elapsed must be a number")


def check_like(saved: Any, fresh: Any, path: str = "state") -> None:
    """Refuse a tree with values of other kinds than a freshly started run has at their places."""
    if isinstance(fresh, dict) and isinstance(saved, dict):
        for key in fresh.keys() & saved.keys():
            check_like(saved[key], fresh[key], f"{path}/{key}")
    elif isinstance(fresh, list | tuple) and isinstance(saved, list | tuple):
        for place, (old, new) in enumerate(zip(saved, fresh, strict=False)):
            check_like(old, new, f"{path}/{place}")
    elif not _is_like(saved, fresh):
        raise TypeError(f"{path} has the wrong type")


def _is_like(saved: Any, fresh: Any) -> bool:
    if isinstance(fresh, Tensor):
        alike = isinstance(saved, Tensor) and saved.dtype == fresh.dtype
        return alike and saved.shape == fresh.shape
    if fresh is None:  # not there yet: a best value, half of a pair of normal numbers
        return saved is None or isinstance(saved, int | float)
    if isinstance(fresh, bool | str):
        return type(saved) is type(fresh)
    return isinstance(saved, int | float) and not isinstance(saved, bool)


def check_random(state: Any) -> None:
    """Refuse states of generators that no generator takes."""
    before = random_state()
    try:
        set_random_state(state)
    finally:
        set_random_state(before)


def check_named(tensors: Any, model: nn.Module, what: str) -> None:
    """Refuse tensors by name that are not of the shapes of the model's."""
    own = model.state_dict()
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor) or name not in own or tensor.shape != own[name].shape:
            raise TypeError(f"{what} of {name!r} has the wrong type")


def check_memory(memory: Mapping[str, Any], weights: list[Tensor]) -> None:
    """Refuse what an optimizer remembers of its weights where it is not of their shapes.

    Args:
        memory: the optimizer's `state_dict`.
        weights: those that it moves, in the order of its groups.
    """
    for place, kept in memory["state"].items():
        for name, value in kept.items():
            if (
                name in AS_LARGE_AS_WEIGHTS
                and value is not None
                and (not isinstance(value, Tensor) or value.shape != weights[place].shape)
            ):
                raise TypeError(f"optimizer/state/{place}/{name} has the wrong type")
