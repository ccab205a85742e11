"""The Hopfield network as a classifier: stored examples are attractors that inputs fall into.

Shapes: B batch, n units, s stored patterns, C classes.
Source: Hopfield, "Neural networks and physical systems with emergent collective computational
abilities" (1982); Personnaz, Guyon and Dreyfus (1985) for the pseudo-inverse.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.models.memory.discrete_memory import DiscreteMemory, DiscreteMemoryConfig
from netwright.models.memory.hopfield_dynamics import (
    asynchronous_sweep,
    energy,
    synchronous_update,
)
from netwright.models.memory.hopfield_weights import hebbian_weights, pseudo_inverse_weights

MOST_UNITS = 10_000  # 400 MB of weights


@dataclass(frozen=True, kw_only=True)
class HopfieldConfig(DiscreteMemoryConfig):
    """Settings of the Hopfield network."""

    patterns: Annotated[
        Size, Doc("number of training examples to store, spread over the classes")
    ] = 50
    rule: Annotated[
        Literal["hebbian", "pseudo-inverse"],
        Doc("learning rule; hebbian fails on similar patterns"),
    ] = "pseudo-inverse"
    update: Annotated[
        Literal["asynchronous", "synchronous"], Doc("update units one by one, or all at once")
    ] = "asynchronous"


class Hopfield(DiscreteMemory):
    """Units of -1 and +1, each coupled to each; recall rolls down an energy."""

    settings: ClassVar[type[Config]] = HopfieldConfig
    card: ClassVar[Card] = Card(
        sentence="Stores examples as the low points of an energy, recalls the one that an input"
        " falls into, and answers with its class.",
        formula=r"H(x) = -\frac{1}{2} \sum_{ij} w_{ij} x_i x_j, \quad"
        r" x_i \leftarrow \mathrm{sgn}\left(\sum_j w_{ij} x_j\right), \quad"
        r" W = X^{+} X \;\text{ or }\; w_{ij} = \frac{1}{n} \sum_t x_{ti} x_{tj},\; w_{ii} = 0",
        symbols={
            "x": "the state, -1 or +1, (n)",
            "w_{ij}": "weights, (n, n), symmetric",
            "X": "stored patterns as rows, (s, n), with pseudo-inverse X^+ (n, s)",
            "x_{ti}": "bit i of stored pattern t",
            r"\mathrm{sgn}": "the sign, with sgn(0) = +1",
        },
        source="Hopfield (1982), PNAS 79, 2554-2558",
        misprint="The Hebbian sum is often printed with its diagonal, w_ii = s/n; it is 0.",
    )
    weights: Tensor

    def __init__(self, config: HopfieldConfig, spec: DataSpec) -> None:
        if spec.num_features > MOST_UNITS:
            raise ConfigError(
                "hopfield has a weight for each pair of inputs: "
                f"at most {MOST_UNITS:,} inputs, got {spec.num_features:,}"
            )
        super().__init__(config, spec, in_turn=config.update == "asynchronous")
        self.rule = config.rule
        self.register_buffer("weights", torch.zeros(spec.num_features, spec.num_features))

    def remember(self) -> None:
        """The weights of the stored patterns."""
        rule = hebbian_weights if self.rule == "hebbian" else pseudo_inverse_weights
        self.weights = rule(self.patterns)

    def energy(self, states: Tensor) -> Tensor:
        """-x^T W x / 2, (B,)."""
        return energy(states, self.weights)

    def sweep(self, states: Tensor, order: Tensor | None = None) -> Tensor:
        """One unit after the other, or all at once, whatever their order."""
        if self.in_turn:
            return asynchronous_sweep(states, self.weights, order=order)
        return synchronous_update(states, self.weights)
