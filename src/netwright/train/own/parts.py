"""The objects of one's own that a run is trained with, as one record.

A recipe names only what is in tables. Such objects live in Python: a run that was trained with them
is resumed and opened with the same ones, and its recipe says which these were.
"""

from dataclasses import dataclass

from netwright.core.adapted_module import Place


@dataclass(frozen=True, kw_only=True)
class OwnParts:
    """What a caller handed over; None and empty where it is the recipe's.

    Args:
        output: the key, field or place of the prediction in what the module returns.
    """

    output: Place | None = None


NO_PARTS = OwnParts()
