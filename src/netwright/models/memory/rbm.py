"""The restricted Boltzmann machine: features learned without classes, read by a softmax.

Shapes: B batch, N examples, D visible units, U hidden units, C classes.
Source: Smolensky, "Information Processing in Dynamical Systems" (1986); Hinton (2002) for the rule.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, NotNegative, Positive, Size
from netwright.core.learner import Examples, Learner
from netwright.core.seeding import derive_seed
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.inspection.drawing.pictures import as_images
from netwright.inspection.drawing.view import View
from netwright.inspection.inside.filters import measure_filters
from netwright.metrics.samples import weighted_mean
from netwright.models.memory.contrastive_divergence import (
    Machine,
    contrastive_divergence,
    hidden_probabilities,
)
from netwright.models.model import Model
from netwright.optimizers import eager

EARLY, EARLY_MOMENTUM = 5, 0.5  # passes with little momentum, while the gradient still turns much
SPREAD = 0.01  # of the first weights
READOUT_L2 = 1e-5  # keeps the softmax finite where its classes are separable


@dataclass(frozen=True, kw_only=True)
class RBMConfig(Config):
    """Settings of the restricted Boltzmann machine."""

    units: Annotated[Size, Doc("number of hidden units")] = 128
    gibbs_steps: Annotated[Size, Doc("k of CD-k: Gibbs steps from the data")] = 1
    epochs: Annotated[Size, Doc("epochs of contrastive divergence")] = 20
    lr: Annotated[Positive, Doc("learning rate of contrastive divergence")] = 0.05
    batch_size: Annotated[Size, Doc("examples per step")] = 32
    momentum: Annotated[Fraction, Doc("momentum after five epochs; before, at most 0.5")] = 0.9
    weight_decay: Annotated[NotNegative, Doc("weight decay")] = 2e-4
    dropout: Annotated[Fraction, Doc("fraction of hidden units dropped")] = 0.0
    readout_steps: Annotated[Size, Doc("L-BFGS steps of the softmax layer, after each epoch")] = 20


class RBM(Model, Learner):
    """Features by contrastive divergence, then a softmax on the chances of the hidden units.

    Training inputs that all lie in [0, 1] are chances to be on; others are brought there by the
    sigmoid.
    """

    settings: ClassVar[type[Config]] = RBMConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features", "image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class"})
    card: ClassVar[Card] = Card(
        sentence="Learns features without classes by contrastive divergence; a softmax on them"
        " tells the classes.",
        formula=r"E(v, h) = -a^T v - b^T h - v^T W h, \quad p(h_j = 1 \mid v) = \sigma(b + W^T v)_j"
        r", \quad \Delta W = \eta \left(v_0 h_0^T - v_k h_k^T\right)",
        symbols={
            "v": "visible units, (D): inputs from 0 to 1, or sigmoids of others",
            "h": "hidden units, 0 or 1, (U)",
            "W": "weights, (D, U)",
            "a, b": "biases, (D) and (U)",
            "v_k, h_k": "after k steps of the chain that starts at the data v_0; v_k and the last"
            " h_k are probabilities, not samples",
            r"\eta": "step size, `lr`",
        },
        source="Hinton (2002), Neural Computation 14, 1771-1800",
        misprint="Visible probabilities in the chain are said to lose nothing. They lower the"
        " noise, but the step does not become the gradient of the likelihood as k grows: enumerated"
        " with 4 visible and 3 hidden units it stays 0.045 off, with samples it comes within 1e-6"
        " at k = 10.",
    )
    weights: Tensor
    visible_bias: Tensor
    hidden_bias: Tensor
    squashes: Tensor

    def __init__(self, config: RBMConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.how = config
        self.register_buffer("weights", torch.zeros(spec.num_features, config.units))
        self.register_buffer("visible_bias", torch.zeros(spec.num_features))
        self.register_buffer("hidden_bias", torch.zeros(config.units))
        self.register_buffer("squashes", torch.tensor(False))
        self.readout = nn.Linear(config.units, spec.num_outputs)

    @classmethod
    def build(cls, config: RBMConfig, spec: DataSpec) -> Self:
        """A machine with one visible unit a number of the input."""
        return cls(config, spec)

    @property
    def machine(self) -> Machine:
        """The parameters together."""
        return Machine(self.weights, self.visible_bias, self.hidden_bias)

    def encode(self, x: Tensor) -> Tensor:
        """Inputs (B, ...) as visible units, (B, D)."""
        flat = x.flatten(1)
        return torch.where(self.squashes, flat.sigmoid(), flat)

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> logits (B, C)."""
        logits: Tensor = self.readout(hidden_probabilities(self.machine, self.encode(x)))
        return logits

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """One pass of contrastive divergence a step, and some steps of the softmax after it."""
        inputs, targets, weights = _counted(data)
        low, high = inputs.aminmax()
        self.squashes.copy_((low < 0) | (high > 1))
        visible = self.encode(inputs)
        numbers = torch.Generator(visible.device).manual_seed(derive_seed(seed, "rbm"))
        self._start(weights @ visible / weights.sum(), numbers)
        velocity = Machine(*(torch.zeros_like(part) for part in self.machine))
        for epoch in range(self.how.epochs):
            momentum = (
                min(self.how.momentum, EARLY_MOMENTUM) if epoch < EARLY else self.how.momentum
            )
            error = self._pass(visible, weights, velocity, momentum, numbers)
            hidden = hidden_probabilities(self.machine, visible)
            loss = self._read(hidden, targets, weights)
            yield {"loss": loss, "reconstruction_error": error}

    def _start(self, chances: Tensor, numbers: torch.Generator) -> None:
        """Small weights, visible biases that say how often each unit is on, and a blank readout."""
        self.weights.normal_(0.0, SPREAD, generator=numbers)
        self.visible_bias.copy_(chances.clamp(0.01, 0.99).logit())
        self.hidden_bias.zero_()
        nn.init.zeros_(self.readout.weight)
        nn.init.zeros_(self.readout.bias)

    def _pass(
        self,
        visible: Tensor,
        weights: Tensor,
        velocity: Machine,
        momentum: float,
        numbers: torch.Generator,
    ) -> float:
        """All examples once, in random order; gives the squared error of what the chain rebuilt."""
        how, machine = self.how, self.machine
        error = visible.new_zeros(())
        order = torch.randperm(len(visible), generator=numbers, device=visible.device)
        for rows in torch.split(order, how.batch_size):
            batch = visible[rows]
            contrast = contrastive_divergence(
                machine,
                batch,
                numbers=numbers,
                gibbs_steps=how.gibbs_steps,
                dropout=how.dropout,
                weights=weights[rows],
            )
            contrast.direction.weights.sub_(machine.weights, alpha=how.weight_decay)
            for part, speed, push in zip(machine, velocity, contrast.direction, strict=True):
                speed.mul_(momentum).add_(push, alpha=how.lr)
                part.add_(speed)
            error += weights[rows] @ (contrast.reconstruction - batch).square().mean(dim=1)
        return float(error / weights.sum())

    def _read(self, hidden: Tensor, targets: Tensor, weights: Tensor) -> float:
        """Move the softmax towards the classes; gives its loss."""
        optimizer = eager.LBFGS(
            self.readout.parameters(),
            max_iter=self.how.readout_steps,
            line_search_fn="strong_wolfe",
        )

        def losses() -> Tensor:
            return F.cross_entropy(self.readout(hidden), targets, reduction="none")

        def slope() -> float:
            optimizer.zero_grad()
            mean = weights @ losses() / weights.sum()
            total = mean + READOUT_L2 / 2 * self.readout.weight.square().sum()
            total.backward()  # type: ignore[no-untyped-call]
            return float(total.detach())

        with torch.enable_grad():
            optimizer.step(slope)
        with torch.no_grad():
            return float(weighted_mean(losses(), weights))

    def own_views(self, examples: Examples) -> Mapping[str, View]:
        """The weights of the hidden units as pictures, where inputs are pictures."""
        filters = as_images(self.weights.T.reshape(-1, *self.spec.input_shape), None)
        return {} if filters is None else {"filters": measure_filters(filters)}


def _counted(data: Examples) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs, targets and weights (N,) of what counts: a batch of weight 0 has no mean."""
    inputs, targets = data.inputs, data.targets
    if data.weights is None:
        return inputs, targets, inputs.new_ones(len(inputs))
    counts = data.weights > 0
    return inputs[counts], targets[counts], data.weights[counts].to(inputs)
