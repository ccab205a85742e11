"""Dense associative memory as a classifier: it stores more patterns than it has units.

Shapes: B batch, n units, s stored patterns.
Source: Krotov and Hopfield, "Dense Associative Memory for Pattern Recognition" (2016); Demircigil
et al. (2017) for the exponential.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.data.spec import DataSpec
from netwright.models.memory.dense_energy import dense_energy, dense_sweep
from netwright.models.memory.discrete_memory import DiscreteMemory, DiscreteMemoryConfig


@dataclass(frozen=True, kw_only=True)
class DenseMemoryConfig(DiscreteMemoryConfig):
    """Settings of the dense associative memory."""

    patterns: Annotated[
        Size, Doc("number of training examples to store, spread over the classes")
    ] = 200
    form: Annotated[Literal["power", "exponential"], Doc("F(z) of the energy: z^k, or exp(z)")] = (
        "exponential"
    )
    power: Annotated[int, Interval(ge=2, le=100), Doc("k of z^k; 2 is the Hebbian network")] = 3


class DenseMemory(DiscreteMemory):
    """A Hopfield network whose energy is steeper than the square of the overlaps."""

    settings: ClassVar[type[Config]] = DenseMemoryConfig
    card: ClassVar[Card] = Card(
        sentence="A Hopfield network with an energy so steep that it holds far more patterns than"
        " it has units; it recalls one and answers with its class.",
        formula=r"E(x) = -\sum_t F(x_t^T x), \quad F(z) = z^k \;\text{ or }\; e^z, \quad"
        r" x_i \leftarrow \mathrm{sgn}\left(E(x_i = -1) - E(x_i = +1)\right)",
        symbols={
            "x": "the state, -1 or +1, (n)",
            "x_t": "stored pattern t of s, (n)",
            "F": "how much an overlap counts; k = 2 is the Hebbian network",
            "k": "the power: about n^{k-1} patterns can be stored",
        },
        source="Krotov and Hopfield (2016), NeurIPS 29; Demircigil et al. (2017), Journal of"
        " Statistical Physics 168, 288-299",
    )

    def __init__(self, config: DenseMemoryConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.power = config.power if config.form == "power" else None

    def remember(self) -> None:
        """Nothing to work out: the patterns themselves are the energy."""

    def energy(self, states: Tensor) -> Tensor:
        """In a scale of its own that keeps the order, (B,)."""
        return dense_energy(states, self.patterns, self.power)

    def sweep(self, states: Tensor, order: Tensor | None = None) -> Tensor:
        """One unit after the other, each to the side of the lower energy."""
        return dense_sweep(states, self.patterns, self.power, order)
