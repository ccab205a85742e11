"""Whether all ranks train the same: machines may have files of one name that hold different rows.

Gradients of ranks that have read other data, or other settings, would be added up all the same, or
would end the processes where their sizes differ.
"""

import json
from collections.abc import Mapping
from typing import Any

from netwright.core.errors import ConfigError
from netwright.train.ranks import Ranks
from netwright.train.saving.conditions import SURROUNDINGS, find_changes

OF_MACHINES = {*SURROUNDINGS, "torch", "netwright"}  # what they may differ in


def check_agreement(ranks: Ranks, conditions: Mapping[str, Any]) -> None:
    """Refuse, on every rank, to train together what is not the same; the first that differs."""
    gathered = ranks.gather(json.dumps(conditions).encode(), "the comparison of what is trained")
    first, *others = map(_without_machines, gathered)
    for rank, other in enumerate(others, start=1):
        changes = find_changes(first, other)
        if changes:
            change = changes.get("data") or next(iter(changes.values()))  # sizes follow from it
            raise ConfigError(
                f"rank {rank} does not train what rank 0 trains (from 0 to {rank}: {change}): give "
                f"all processes the same data and the same recipe"
            )


def _without_machines(gathered: bytes) -> dict[str, Any]:
    told = json.loads(gathered)
    return {name: value for name, value in told.items() if name not in OF_MACHINES}
