"""A classifier that remembers: it stores some examples as signs and recalls the nearest of them.

What the discrete memories share: which examples are stored, how inputs become -1 and +1, and how a
recalled state becomes logits. How a state moves is the affair of each kind.

Shapes: B batch, n units (the numbers in an input), s stored patterns, C classes.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

import torch
from torch import Tensor

from netwright.core.config import Config, Doc, Size
from netwright.core.learner import Examples, Learner
from netwright.core.seeding import generator
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.inspection.drawing.pictures import as_images
from netwright.inspection.drawing.view import View
from netwright.inspection.inside.energy_descent import measure_energy_descent
from netwright.inspection.inside.recalled_patterns import measure_recalled_patterns
from netwright.models.grown_buffers import GrownBuffers
from netwright.models.model import Model

SHARPNESS = 10.0  # of the logits: a recalled pattern against one that agrees by half, odds of 150
GROUPS = 10  # steps in which the patterns are stored
FLIPPED = 0.2  # share of the bits that are flipped to see what comes back
SHOWN = 8  # patterns that are drawn
STRETCHES = 56  # of a sweep, between which the energy is taken


@dataclass(frozen=True, kw_only=True)
class DiscreteMemoryConfig(Config):
    """What the discrete memories have in common."""

    patterns: Annotated[Size, Doc("number of training examples to store, spread over the classes")]
    sweeps: Annotated[
        Size, Doc("maximum updates per unit; recall stops early at a fixed point")
    ] = 10
    cut: Annotated[
        float | None,
        Doc(
            "threshold: inputs above it are +1, others -1; default: 0.5 for images, 0 for features"
        ),
    ] = None


class DiscreteMemory(GrownBuffers, Model, Learner):
    """The abstract kind; `remember` builds what `sweep` and `energy` need from the patterns.

    Args:
        config: its settings.
        spec: of the data.
        in_turn: the units move one after the other, not all at once.
    """

    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features", "image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class"})
    grown: ClassVar[tuple[str, ...]] = ("patterns", "classes")
    patterns: Tensor
    classes: Tensor

    def __init__(
        self, config: DiscreteMemoryConfig, spec: DataSpec, *, in_turn: bool = True
    ) -> None:
        super().__init__(config, spec)
        self.in_turn = in_turn
        self.num_patterns, self.sweeps = config.patterns, config.sweeps
        default = 0.5 if spec.inputs == "image" else 0.0
        self.cut = default if config.cut is None else config.cut
        self.register_buffer("patterns", torch.empty(0, spec.num_features))  # (s, n)
        self.register_buffer("classes", torch.empty(0, dtype=torch.int64))  # (s,)

    @classmethod
    def build(cls, config: DiscreteMemoryConfig, spec: DataSpec) -> Self:
        """An empty memory with one unit a number of the input."""
        return cls(config, spec)

    @abstractmethod
    def remember(self) -> None:
        """Take the stored patterns, at least one, into the energy."""

    @abstractmethod
    def energy(self, states: Tensor) -> Tensor:
        """(B, n) -> (B,)."""

    @abstractmethod
    def sweep(self, states: Tensor, order: Tensor | None = None) -> Tensor:
        """Update each unit once, or only those of `order`: (B, n) -> (B, n)."""

    def encode(self, x: Tensor) -> Tensor:
        """Inputs (B, ...) as states of -1 and +1, (B, n)."""
        return torch.where(x.flatten(1) > self.cut, 1.0, -1.0).to(self.patterns)

    @torch.no_grad()
    def recall(self, states: Tensor) -> Tensor:
        """Sweep until nothing moves, at most `sweeps` times; states at rest are left alone."""
        states = states.clone()
        moving = torch.arange(len(states), device=states.device)
        for _ in range(self.sweeps if len(self.patterns) else 0):
            before = states[moving]
            after = self.sweep(before)
            states[moving] = after
            moving = moving[(after != before).any(dim=1)]
            if not len(moving):
                break
        return states

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> logits (B, C): the best overlap of what is recalled with each class."""
        recalled = self.recall(self.encode(x))
        overlaps = recalled @ self.patterns.T / recalled.shape[1]  # (B, s)
        none = overlaps.new_full((len(overlaps), self.spec.num_outputs), -1.0)
        owners = self.classes.expand(len(overlaps), -1)
        return SHARPNESS * none.scatter_reduce(1, owners, overlaps, "amax")

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """Store the patterns, a tenth a step, and see how many the memory holds so far.

        A heavier example is more likely to be stored: sample weights are the rates of the draw.
        """
        rows = spread_rows(data, generator(seed, "patterns"))[: self.num_patterns]
        patterns, classes = self.encode(data.inputs[rows]), data.targets[rows]
        counts = torch.linspace(0, len(rows), min(GROUPS, len(rows)) + 1)[1:].round().int()
        for count in counts.tolist():
            self.patterns, self.classes = patterns[:count], classes[:count]
            self.remember()
            stable = (self.sweep(self.patterns) == self.patterns).all(dim=1)
            recalled = (self.recall(self._flipped(self.patterns)) == self.patterns).all(dim=1)
            yield {
                "patterns": float(count),
                "stable": float(stable.float().mean()),
                "recalled": float(recalled.float().mean()),
            }

    def own_views(self, examples: Examples) -> Mapping[str, View]:
        """Stored patterns, disturbed and recalled, and the energy on the way."""
        start = self._flipped(self.patterns)
        end = self.recall(start)
        views: dict[str, View] = {}
        shape = (-1, *self.spec.input_shape)
        if as_images(start.view(shape), None) is not None:
            views["recalled-patterns"] = measure_recalled_patterns(
                self.patterns.view(shape),
                start.view(shape),
                end.view(shape),
                (end == self.patterns).all(dim=1),
                num_shown=SHOWN,
                disturbance=f"{FLIPPED:.0%} of its bits flipped",
            )
        views["energy-descent"] = measure_energy_descent(*self._energies(start[:SHOWN]))
        return views

    def _flipped(self, states: Tensor) -> Tensor:
        """The states with a fixed draw of bits turned over."""
        draws = torch.rand(states.shape, generator=generator(0, "flipped bits"))
        return torch.where(draws.to(states.device) < FLIPPED, -states, states)

    def _energies(self, states: Tensor) -> tuple[list[float], Tensor]:
        """Times, in sweeps, and the energies at them (times, B), until nothing moves."""
        units = torch.arange(states.shape[1], device=states.device)
        parts = units.chunk(STRETCHES) if self.in_turn else (units,)
        times, energies = [0.0], [self.energy(states)]
        for count in range(self.sweeps):
            before = states
            for place, part in enumerate(parts, start=1):
                states = self.sweep(states, part)
                times.append(count + place / len(parts))
                energies.append(self.energy(states))
            if torch.equal(states, before):
                break
        return times, torch.stack(energies)


def spread_rows(data: Examples, numbers: torch.Generator) -> Tensor:
    """The rows that count, in random order, dealt out evenly over the classes.

    A row of weight w comes up after a time drawn with the rate w: heavier rows come earlier.
    """
    times = torch.empty(len(data.targets)).exponential_(generator=numbers).to(data.inputs.device)
    if data.weights is not None:
        times = times / data.weights  # infinite for a weight of 0
    order = times.argsort()[: int(times.isfinite().sum())]
    classes = data.targets[order]
    by_class = classes.argsort(stable=True)
    counts = classes.bincount()
    starts = (counts.cumsum(0) - counts)[classes[by_class]]
    turns = torch.empty_like(by_class)  # the how-manieth of its class each row is
    turns[by_class] = torch.arange(len(order), device=order.device) - starts
    return order[turns.argsort(stable=True)]
