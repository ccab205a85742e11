r"""The energies of Hopfield networks: one that never rises, and one whose descent is attention.

    H(x) = -1/2 sum_ij w_ij x_i x_j + sum_i b_i x_i,    x_i <- sgn(sum_j w_ij x_j - b_i)

An update of one unit changes the energy by -(x_i' - x_i) H_i <= 0 where w_ij = w_ji and w_ii = 0.

Shapes: n units, B queries, S stored patterns, D features.
Source: Hopfield (1982), PNAS 79, 2554-2558; Ramsauer et al. (2020), arXiv:2008.02217.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.core.seeding import generator
from netwright.inspection.claim_chart import ClaimChart, line, measured, predicted
from netwright.layers.hopfield import hopfield_energy, hopfield_retrieval
from netwright.models.memory.hopfield_dynamics import asynchronous_sweep, energy
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most, no_violations

ROUNDING = 1e-12
NETWORKS = {"quick": 10, "full": 100}
QUERIES = {"quick": 100, "full": 10_000}


@dataclass(frozen=True, kw_only=True)
class EnergyConfig(Config):
    """Random networks of this size."""

    units: Annotated[Size, Doc("n, units of a network")] = 100
    updates: Annotated[Size, Doc("updates of a random unit, in each network")] = 1000
    symmetric: Annotated[Assumption, "..."] = True


def random_network(given: EnergyConfig, numbers: torch.Generator) -> tuple[Tensor, Tensor]: ...
