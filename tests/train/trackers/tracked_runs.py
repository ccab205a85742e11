"""A run that was stopped and resumed while it was tracked."""

from pathlib import Path
from typing import Any

import netwright as nw


def resumed_run(folder: Path, tracker: str) -> nw.Run:
    """Four epochs of iris in two parts, with a row for each step."""
    settings: dict[str, Any] = {
        "epochs": 4,
        "log_every": 1,
        "track": tracker,
        "quiet": True,
        "seed": 1,
    }
    nw.fit("mlp", "iris", out=folder / "run", max_steps=6, **settings)
    return nw.fit("mlp", "iris", out=folder / "run", resume="auto", **settings)
