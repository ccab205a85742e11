"""What all made-up data share: a number of examples, a seed, and inputs that are left as drawn.

The generators draw from one torch generator of their own, so the same settings give the same bits
and the caller's random state is not touched. Inputs are not standardised: a line's slope can be
read off the model, and a boundary can be drawn in the coordinates of the formula.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from torch import Tensor

from netwright.core.config import Count, Doc, Size
from netwright.core.limits import CONTENT
from netwright.core.seeding import generator
from netwright.data.arrays import Names, arrays_config, from_arrays
from netwright.data.dataset import Data
from netwright.data.source import DataConfig

LICENCE = "made by netwright, free to use"


@dataclass(frozen=True, kw_only=True)
class SyntheticConfig(DataConfig):
    """How many examples are drawn, and which."""

    n: Annotated[Size, Doc("number of examples, before any are held out")] = 400
    seed: Annotated[Count, Doc("which examples are drawn; apart from the run's seed")] = 0

    def __post_init__(self) -> None:
        """Refuse more than a table may hold before it is drawn."""
        super().__post_init__()
        width = max(getattr(self, name, 1) for name in ("features", "length", "outputs"))
        CONTENT.check(f"n={self.n} with {width} numbers each", 8e-9 * self.n * width, "takes")


def stream(config: SyntheticConfig, name: str) -> torch.Generator:
    """The random numbers of one data set: the same seed draws afresh for each name."""
    return generator(config.seed, "data", name)


def as_data(
    name: str,
    config: SyntheticConfig,
    inputs: Tensor,
    targets: Tensor,
    *,
    kind: Literal["class", "real"],
    classes: int = 0,
) -> Data:
    """Drawn inputs (N, F) and targets as data, with classes called 0, 1 ..."""
    return from_arrays(
        inputs,
        targets,
        config=arrays_config(config, kind=kind, standardize=False),
        name=name,
        names=Names(classes=tuple(str(place) for place in range(classes))),
    )
