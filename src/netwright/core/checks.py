"""Checks on what a caller hands over: bad input stops here, in one plain sentence."""

import difflib
import sys
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from netwright.core.errors import ConfigError, DataError, ShapeError

if TYPE_CHECKING:  # so that a mistyped name is answered at once
    from torch import Tensor


LONGEST_NAME = 100  # letters: to compare two names takes the product of their lengths


def nearest(name: str, known: Iterable[str]) -> str:
    """Give "; did you mean 'x'?" where a known name is close, else nothing."""
    if len(name) > LONGEST_NAME:
        return ""
    by_lower = {other.lower(): other for other in known if len(other) <= LONGEST_NAME}
    close = difflib.get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.55)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""


def check_positive(name: str, value: float) -> None:
    """Refuse zero, negative numbers and NaN."""
    if not value > 0:  # written this way round so that NaN is refused too
        raise ConfigError(f"{name} must be positive, got {value!r}")


def check_not_negative(name: str, value: float) -> None:
    """Refuse negative numbers and NaN."""
    if not value >= 0:
        raise ConfigError(f"{name} must not be negative, got {value!r}")


def check_fraction(name: str, value: float) -> None:
    """Refuse what lies outside [0, 1)."""
    if not 0 <= value < 1:
        raise ConfigError(f"{name} must lie in [0, 1), got {value!r}")


def is_finite_number(value: object) -> bool:
    """Whether this is a whole number or a float, and none that is too large for one."""
    return type(value) in {int, float} and abs(value) <= sys.float_info.max  # type: ignore[arg-type]


def check_no_nul(name: str, value: object) -> None:
    """Refuse a name with a NUL character: no file can have it."""
    if "\0" in str(value):
        raise ConfigError(f"{name} must not contain a NUL character, got {str(value)!r:.100}")


def check_seed(seed: Any) -> None:
    """Refuse a seed that is not a whole number, 0 or more."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ConfigError(f"seed must be a non-negative integer, got {seed!r}")


def check_shape(name: str, tensor: "Tensor", *wanted: int | str) -> None:
    """Compare a shape with a pattern: a number must match, a letter stands for any size."""
    shape = tuple(tensor.shape)
    fits = len(shape) == len(wanted) and all(
        isinstance(want, str) or size == want for size, want in zip(shape, wanted, strict=True)
    )
    if not fits:
        pattern = ", ".join(str(want) for want in wanted)
        raise ShapeError(f"{name} must have shape ({pattern}), got {shape}")


def is_finite(values: "Tensor") -> bool:
    """Whether all numbers of a tensor are."""
    # A sum is finite only if all its terms are; it takes a tenth of the time of `isfinite`.
    return bool(values.sum().isfinite()) or bool(values.isfinite().all())


def check_finite(name: str, values: "Tensor") -> None:
    """Refuse NaN and infinity, naming the first place."""
    if not values.is_floating_point() or is_finite(values):
        return
    not_finite = ~values.isfinite()
    first = not_finite.nonzero()[0]
    place = ", ".join(str(int(index)) for index in first)
    raise DataError(
        f"{name} must be finite, got {float(values[tuple(first)])} at [{place}] "
        f"({int(not_finite.sum())} in all)"
    )


def check_groups(name: str, groups: Any, count: int) -> None:
    """Refuse what does not number the groups of so many things in their order: 0, 0, 1, 2, 2 ..."""
    numbers = groups if isinstance(groups, tuple) else ()
    are_whole = len(numbers) == count > 0 and all(type(number) is int for number in numbers)
    if not are_whole or numbers[0] or not {0, 1} >= {b - a for a, b in pairwise(numbers)}:
        raise ShapeError(
            f"{name} must number the groups of {count} features in order, as in 0, 0, 1, 2, 2, "
            f"got {groups!r:.60}"
        )


def check_levels(name: str, levels: Any, count: int) -> None:
    """Refuse what does not tell of so many features how many categories each has: 0, 0, 12 ..."""
    numbers = levels if isinstance(levels, tuple) else ()
    if len(numbers) != count or not all(type(one) is int and one >= 0 for one in numbers):
        raise ShapeError(
            f"{name} must give the categories of {count} features, 0 of a number, got "
            f"{levels!r:.60}"
        )
