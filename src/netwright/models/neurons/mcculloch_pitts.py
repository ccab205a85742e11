"""The McCulloch-Pitts neuron: binary inputs, synapses that excite or inhibit, and a threshold.

It has no rule of learning. For a few inputs every neuron can be tried, and the best one is kept.

Shapes: B batch, N examples, D inputs, S = 2^D synapse vectors, Q different inputs, R neurons (one a
class, or one for two classes).
Source: McCulloch and Pitts, "A logical calculus of the ideas immanent in nervous activity" (1943).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.errors import ConfigError
from netwright.core.learner import Examples, Learner
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.threshold import heaviside
from netwright.models.model import Model

MOST_INPUTS = 12  # 4,096 synapse vectors, 26 thresholds each

# Synapses and threshold of the gates that one neuron can be; exclusive or is not among them.
GATES: dict[str, tuple[tuple[int, ...], int]] = {
    "AND": ((1, 1), 2),
    "OR": ((1, 1), 1),
    "NAND": ((-1, -1), -1),
    "NOR": ((-1, -1), 0),
    "NOT": ((-1,), 0),
}


def excess(x: Tensor, synapses: Tensor, threshold: Tensor) -> Tensor:
    """sigma^T x - theta: how far a neuron is above its threshold; it fires from 0 on.

    Args:
        x: 0 or 1, (..., D).
        synapses: +1 or -1, (R, D).
        threshold: whole numbers, (R,).
    """
    return x @ synapses.T - threshold


def fires(x: Tensor, synapses: Tensor, threshold: Tensor) -> Tensor:
    """1 where the threshold is reached, else 0, (..., R)."""
    return heaviside(excess(x, synapses, threshold), at_zero=1.0)


@dataclass(frozen=True, kw_only=True)
class McCullochPittsConfig(Config):
    """Settings of the McCulloch-Pitts neuron."""

    cut: Annotated[float, Doc("threshold that binarises the inputs")] = 0.5


class McCullochPitts(Model, Learner):
    """f(x) = 1 where sigma^T x >= theta; one neuron for two classes, one a class for more."""

    settings: ClassVar[type[Config]] = McCullochPittsConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class"})
    card: ClassVar[Card] = Card(
        sentence="A neuron that fires when enough of its exciting inputs and few others are on.",
        formula=r"f(x) = 1 \text{ if } \sigma^T x \ge \theta, \text{ else } 0, \quad"
        r" x \in \{0, 1\}^D, \; \sigma \in \{-1, +1\}^D",
        symbols={
            "x": "binary inputs, (D); a real is read as 1 above the cut",
            r"\sigma": "synapses, +1 excites and -1 inhibits, (D)",
            r"\theta": "threshold, a whole number",
        },
        source="McCulloch and Pitts (1943), Bulletin of Mathematical Biophysics 5, 115-133",
    )
    synapses: Tensor
    threshold: Tensor

    def __init__(self, config: McCullochPittsConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        if spec.num_features > MOST_INPUTS:
            raise ConfigError(
                f"mcculloch-pitts tries all sign patterns of at most {MOST_INPUTS} inputs, got "
                f"{spec.num_features}"
            )
        self.cut = config.cut
        rows = 1 if spec.num_outputs == 2 else spec.num_outputs
        self.register_buffer("synapses", torch.ones(rows, spec.num_features))
        # Out of reach: before it is chosen, no neuron fires.
        self.register_buffer("threshold", torch.full((rows,), spec.num_features + 1.0))

    @classmethod
    def build(cls, config: McCullochPittsConfig, spec: DataSpec) -> Self:
        """A neuron with as many inputs as the data has, or one such neuron a class."""
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, D) -> logits (B, C): above 0 where a neuron fires, and never 0."""
        scores = excess((x > self.cut).to(self.synapses), self.synapses, self.threshold) + 0.5
        return nn.functional.pad(scores, (1, 0)) if scores.shape[1] == 1 else scores

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """One step a threshold: every synapse vector is tried. The seed has no part in it."""
        seen, gains, most = self._counted(data)
        width = seen.shape[1]
        signs = torch.cartesian_prod(*[torch.tensor([1.0, -1.0])] * width).view(-1, width)  # (S, D)
        sums = seen @ signs.to(seen).T  # (Q, S)
        best = torch.full((gains.shape[1],), -torch.inf, dtype=gains.dtype, device=gains.device)
        for threshold in range(-width, width + 2):
            right = heaviside(sums - threshold, at_zero=1.0).T @ gains  # (S, R)
            highest, place = right.max(dim=0)
            better = highest > best
            best = torch.where(better, highest, best)
            self.synapses[better] = signs.to(seen)[place[better]].to(self.synapses)
            self.threshold[better] = float(threshold)
            yield {"mistakes": float((most - best).sum())}

    def _counted(self, data: Examples) -> tuple[Tensor, Tensor, Tensor]:
        """The different inputs (Q, D); what is won by firing at each (Q, R); the most (R,).

        An example of a neuron's class is a gain, any other a loss: the best neuron wins the most.
        """
        binary = (data.inputs > self.cut).double()
        seen, place = torch.unique(binary, dim=0, return_inverse=True)
        classes = torch.arange(self.spec.num_outputs, device=seen.device)
        member = (data.targets[:, None] == classes).double()  # (N, C)
        if self.spec.num_outputs == 2:
            member = member[:, 1:]
        counts = member.new_ones(len(member), 1)
        if data.weights is not None:
            counts = data.weights.double()[:, None]
        gains = torch.zeros(len(seen), member.shape[1], dtype=torch.float64, device=seen.device)
        gains.index_add_(0, place, counts * (2 * member - 1))
        return seen, gains, (counts * member).sum(dim=0)
