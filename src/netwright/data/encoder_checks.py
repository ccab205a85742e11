"""Numbers of an encoder that comes from a file: what no training gives is refused.

Its fields are of their kinds by then; a size may still be negative or huge, a list too short.
"""

import math
from collections.abc import Sized

from netwright.core.errors import DataError
from netwright.core.limits import INPUT


def check_positive(name: str, *numbers: float) -> None:
    """Refuse zero and negative numbers in a field."""
    for number in numbers:
        if number <= 0:
            raise DataError(f"{name} of a saved encoder must be positive, got {number}")


def check_sizes(name: str, *sizes: int) -> None:
    """Refuse sizes of an example that are not positive, and those for which there is no room."""
    check_positive(name, *sizes)
    INPUT.check("an example", math.prod(sizes))


def check_count(wanted: int, **fields: Sized) -> None:
    """Refuse fields that have more or fewer entries than wanted."""
    for name, field in fields.items():
        if len(field) != wanted:
            raise DataError(
                f"{name} of a saved encoder must have {wanted} entries, got {len(field)}"
            )
