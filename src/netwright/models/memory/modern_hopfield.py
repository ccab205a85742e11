"""The modern Hopfield network as a model: every training example is stored and asked by attention.

Shapes: B batch, N examples, D features, E outputs (classes or reals), M examples that are left out.
Source: Ramsauer et al., "Hopfield Networks is All You Need" (2020).
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive
from netwright.core.learner import Examples, Learner
from netwright.core.seeding import generator
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.inspection.drawing.pictures import as_images
from netwright.inspection.drawing.view import View
from netwright.inspection.inside.recalled_patterns import measure_recalled_patterns
from netwright.layers.attention.hopfield import hopfield_retrieval
from netwright.metrics.samples import weighted_mean
from netwright.models.grown_buffers import GrownBuffers
from netwright.models.model import Model

# Tried for beta, times the one at which the nearest neighbour counts 1/e of a pattern itself.
SHARPNESSES = tuple(2.0**power for power in range(-7, 4))
MOST_SCORES = 2**24  # distances that are held to choose beta: 64 MB in single precision
TRIED, SHOWN = 200, 8  # patterns that are disturbed for a picture, and drawn
NOISE = 0.3  # its spread; pixels go from 0 to 1


@dataclass(frozen=True, kw_only=True)
class ModernHopfieldConfig(Config):
    """Settings of the modern Hopfield network."""

    beta: Annotated[
        Positive | None,
        Doc("inverse temperature; default: the best of 11 by leave-one-out"),
    ] = None


class ModernHopfield(GrownBuffers, Model, Learner):
    """Attention over all training examples; the mass on each class is its probability.

    Half the squared length of each pattern is taken off its score, so that the nearest pattern
    wins and not the longest: the softmax is one of distances. For patterns of one length, as in the
    original, it changes nothing.
    """

    settings: ClassVar[type[Config]] = ModernHopfieldConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features", "image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "real"})
    card: ClassVar[Card] = Card(
        sentence="Stores every training example and asks them all by softmax attention, which is"
        " one update of a continuous Hopfield network.",
        formula=r"\xi' = X^T p, \quad p = \mathrm{softmax}\left(\beta X \xi"
        r" - \frac{\beta}{2} |x|^2\right), \quad f(\xi) = Y^T p",
        symbols={
            r"\xi": "the input, (D)",
            "X": "stored examples x as rows, (N, D)",
            "Y": "their classes (one-hot) or reals, (N, E)",
            "p": "attention, (N)",
            r"\beta": "how sharply the nearest pattern wins",
            r"|x|^2": "squared lengths, (N): equal ones cancel and leave the original update",
        },
        source="Ramsauer et al. (2020), arXiv:2008.02217",
    )
    grown: ClassVar[tuple[str, ...]] = ("patterns", "values", "offsets")
    centre: Tensor
    patterns: Tensor
    values: Tensor
    offsets: Tensor
    beta: Tensor

    def __init__(self, config: ModernHopfieldConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.wanted_beta = config.beta
        # Patterns are kept from their mean: far from 0 the digits of single precision would go
        # into lengths that cancel.
        self.register_buffer("centre", torch.zeros(spec.num_features))  # (D,)
        # Before it learns it knows one pattern, which stands for nothing.
        self.register_buffer("patterns", torch.zeros(1, spec.num_features))  # (N, D)
        self.register_buffer("values", torch.zeros(1, spec.num_outputs))  # (N, E)
        self.register_buffer("offsets", torch.zeros(1))  # (N,)
        self.register_buffer("beta", torch.ones(()))

    @classmethod
    def build(cls, config: ModernHopfieldConfig, spec: DataSpec) -> Self:
        """An empty memory for inputs of this size."""
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> logits (B, C), the log of the attention on each class; or reals (B, K)."""
        answer = self._recall(x.flatten(1) - self.centre, self.values)
        return _log(answer) if self.spec.target == "class" else answer

    def _recall(self, queries: Tensor, values: Tensor) -> Tensor:
        """The values (N, E) by the attention of queries (B, D), seen from the centre."""
        return hopfield_retrieval(
            self.beta * queries, self.patterns, 1.0, values=values, offsets=self.offsets
        )

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """Store everything, then one step a beta that is tried; the best so far is kept.

        A weight counts as so many copies of the example.
        """
        weights = self._store(data)
        rows, distances = left_out_distances(self.patterns, generator(seed, "left out"))
        nearest = float(distances.amin(dim=1).mean()) or 1.0  # 0 where each has its double
        betas = [2 * sharpness / nearest for sharpness in SHARPNESSES]
        lowest = math.inf
        for beta in betas if self.wanted_beta is None else [self.wanted_beta]:
            scores = weights.log() - beta / 2 * distances
            loss = self._loss(scores.softmax(dim=1) @ self.values, rows, weights)
            if loss < lowest:
                lowest = loss
                self.beta = torch.full_like(self.beta, beta)
                self.offsets = weights.log() - beta / 2 * self.patterns.square().sum(dim=1)
            yield {"beta": beta, "loss": loss}

    def _store(self, data: Examples) -> Tensor:
        """Keep what counts, and give its weights (N,)."""
        inputs, targets = data.inputs.flatten(1), data.targets
        weights = torch.ones_like(inputs[:, 0]) if data.weights is None else data.weights
        counts = weights > 0
        one_a_class = self.spec.target == "class"
        answers = F.one_hot(targets, self.spec.num_outputs) if one_a_class else targets
        kept = inputs[counts]
        self.centre = kept.mean(dim=0)
        self.patterns, self.values = kept - self.centre, answers[counts].to(inputs)
        return weights[counts].to(inputs)

    def _loss(self, answers: Tensor, rows: Tensor, weights: Tensor) -> float:
        """Of the examples that were left out: log loss of classes, squared error of reals."""
        true = self.values[rows]
        if self.spec.target == "class":
            errors = -(_log(answers) * true).sum(dim=1)
        else:
            errors = (answers - true).square().mean(dim=1)
        return float(weighted_mean(errors, weights[rows]))

    @torch.no_grad()
    def own_views(self, examples: Examples) -> Mapping[str, View]:
        """Stored images with noise, and what one update makes of them."""
        shape = (-1, *self.spec.input_shape)
        stored = self.patterns[:TRIED]
        if as_images(stored.view(shape), None) is None:
            return {}
        draws = torch.randn(stored.shape, generator=generator(0, "noise")).to(stored)
        noisy = stored + NOISE * draws
        recalled = self._recall(noisy, self.patterns)
        places = torch.arange(len(stored), device=stored.device)
        right = torch.cdist(recalled, self.patterns).argmin(dim=1) == places

        def picture(rows: Tensor) -> Tensor:
            return (rows + self.centre).view(shape)

        recalled_view = measure_recalled_patterns(
            picture(stored),
            picture(noisy),
            picture(recalled),
            right,
            num_shown=SHOWN,
            disturbance=f"noise of spread {NOISE} on its pixels",
        )
        return {"recalled-patterns": recalled_view}


def left_out_distances(patterns: Tensor, numbers: torch.Generator) -> tuple[Tensor, Tensor]:
    """Some rows (M,), as many as memory allows, and their squared distances to all (M, N).

    A pattern is infinitely far from itself, unless it is the only one.
    """
    most = max(MOST_SCORES // len(patterns), 1)
    rows = torch.randperm(len(patterns), generator=numbers)[:most].to(patterns.device)
    lengths = patterns.square().sum(dim=1)
    distances = torch.addmm(lengths + lengths[rows, None], patterns[rows], patterns.T, alpha=-2)
    distances.clamp_min_(0.0)
    if len(patterns) > 1:
        distances.scatter_(1, rows[:, None], math.inf)
    return rows, distances


def _log(mass: Tensor) -> Tensor:
    """The logarithm, finite also where there is no mass."""
    return mass.clamp_min(torch.finfo(mass.dtype).tiny).log()
