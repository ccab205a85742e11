"""The perceptron: a threshold on a weighted sum, learned from its mistakes alone.

Two classes have one row of weights; more have one a class, each learned against the rest.

Shapes: B batch, N examples, D features, C classes, R rows of weights, P passes.
Source: Rosenblatt, "The Perceptron: A Probabilistic Model for Information Storage and Organization
in the Brain" (1958).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.core.errors import RunError
from netwright.core.learner import Examples, Learner
from netwright.core.seeding import generator
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.inspection.drawing.view import View
from netwright.inspection.predictions.hyperplane import measure_hyperplane
from netwright.models.grown_buffers import GrownBuffers
from netwright.models.model import Model
from netwright.models.neurons.kept_weights import Average, Keeper, Pocket, Problem, Rows
from netwright.models.neurons.mistake_driven import perceptron_pass
from netwright.models.neurons.separability import is_separable

MOST_NUMBERS = 100_000  # in the examples whose separability a linear program decides in seconds
UNKNOWN, NO, YES = -1, 0, 1

SYMBOLS = {
    "x": "one input, flattened, (D)",
    "w": "weights, (D); one such row a class where there are more than two",
    "b": "bias; the threshold is -b",
    "y": "the class, +1 or -1",
}


@dataclass(frozen=True, kw_only=True)
class PerceptronConfig(Config):
    """Settings of the perceptron."""

    epochs: Annotated[Size, Doc("maximum passes; a pass without a mistake stops training")] = 100


@dataclass(frozen=True, kw_only=True)
class AveragedPerceptronConfig(PerceptronConfig):
    """Settings of the averaged perceptron."""


class Perceptron(GrownBuffers, Model, Learner):
    """f(x) = sgn(w^T x + b); of all passes the weights with the fewest errors are kept."""

    settings: ClassVar[type[Config]] = PerceptronConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features", "image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class"})
    card: ClassVar[Card] = Card(
        sentence="A threshold on a weighted sum; where it is wrong, the example joins the weights.",
        formula=r"f(x) = \operatorname{sgn}(w^T x + b), \quad"
        r" y (w^T x + b) \le 0 \;\Rightarrow\; w \leftarrow w + y x, \; b \leftarrow b + y",
        symbols=SYMBOLS,
        source="Rosenblatt (1958), Psychological Review 65, 386-408",
        misprint="b is called the threshold, but the unit fires above the threshold -b.",
    )
    grown: ClassVar[tuple[str, ...]] = ("mistakes",)
    keeper: ClassVar[type[Keeper]] = Pocket
    met: ClassVar[str] = "the data"  # what the weights meet, in words
    mistakes: Tensor
    kept_pass: Tensor
    separable: Tensor

    def __init__(self, config: PerceptronConfig, spec: DataSpec, width: int | None = None) -> None:
        super().__init__(config, spec)
        self.epochs = config.epochs
        rows = 1 if spec.num_outputs == 2 else spec.num_outputs
        self.scores = nn.Linear(width or spec.num_features, rows)
        nn.init.zeros_(self.scores.weight)
        nn.init.zeros_(self.scores.bias)
        self.register_buffer("mistakes", torch.zeros(0, dtype=torch.int64))  # of each pass, (P,)
        self.register_buffer("kept_pass", torch.tensor(0))  # whose weights answer, from 1
        self.register_buffer("separable", torch.tensor(UNKNOWN))

    @classmethod
    def build(cls, config: Any, spec: DataSpec) -> Self:
        """A perceptron with as many inputs and classes as the data has, all its weights zero."""
        return cls(config, spec)

    def features(self, x: Tensor) -> Tensor:
        """(B, ...) -> (B, D), what the weights meet."""
        return x.flatten(1)

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> scores as logits (B, C); of two classes the first has 0."""
        scores: Tensor = self.scores(self.features(x))
        return nn.functional.pad(scores, (1, 0)) if scores.shape[1] == 1 else scores

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """One step a pass, in an order of its own, until a pass has no mistake.

        The last step also says whether the data is linearly separable (1) or not (0), where a
        pass without a mistake shows it or a linear program can decide it in seconds.
        """
        problem = self._problem(data)
        keeper = self.keeper(problem)
        rows = _zeros(problem)
        self.mistakes, updates = self.mistakes[:0], 0
        self.separable.fill_(UNKNOWN)
        for epoch in range(1, self.epochs + 1):
            order = torch.randperm(len(problem.inputs), generator=generator(seed, "pass", epoch))
            mistakes = perceptron_pass(*rows, *problem, order)
            self._keep(keeper.after_pass(rows, mistakes, order), epoch)
            count = int(mistakes.sum())
            self.mistakes = torch.cat((self.mistakes, self.mistakes.new_tensor([count])))
            updates += count
            numbers = {"mistakes": float(count), "updates": float(updates)}
            if count and epoch < self.epochs:
                yield numbers
                continue
            self.separable.fill_(_decide(problem) if count else YES)
            yield (
                numbers
                if self.separable == UNKNOWN
                else {
                    **numbers,
                    "separable": float(self.separable),
                }
            )
            return

    @property
    def kept_step(self) -> int | None:
        """The pass whose weights answer."""
        return int(self.kept_pass)

    @property
    def verdict(self) -> str:
        """Whether planes can tell the classes apart, as far as it is known."""
        passes, is_one_plane = len(self.mistakes), self.scores.out_features == 1
        if passes == 0:
            return ""
        if self.separable == UNKNOWN:
            return f"no pass was free of mistakes in {passes}"
        if self.separable == NO:
            never = "every pass makes mistakes"
            if is_one_plane:
                return f"{self.met} is not linearly separable: {never}"
            return f"one plane per class cannot separate {self.met}: {never}"
        found = f"pass {passes} had no mistake"
        if self.mistakes[-1]:
            found = f"no pass was free of mistakes in {passes}, more of them find it"
        if is_one_plane:
            return f"{self.met} is linearly separable: {found}"
        return f"one plane per class separates {self.met}: {found}"

    def own_views(self, examples: Examples) -> Mapping[str, View]:
        """How learning went, and how far the examples lie from the plane of their class."""
        if len(self.mistakes) == 0:
            return {}
        with torch.no_grad():
            inputs = self.features(examples.inputs)
        view = measure_hyperplane(
            inputs,
            examples.targets,
            self.scores.weight.detach(),
            self.scores.bias.detach(),
            mistakes=self.mistakes,
            kept_pass=self.kept_step,
            separable=None if self.separable == UNKNOWN else bool(self.separable),
        )
        return {"hyperplane": view}

    def _problem(self, data: Examples) -> Problem:
        """The examples on the CPU, where one small product after the other is quickest."""
        with torch.no_grad():
            inputs = self.features(data.inputs).cpu()
        targets = data.targets.cpu()
        classes = torch.arange(self.spec.num_outputs)
        signs = 2.0 * (targets[:, None] == classes).double() - 1  # (N, C)
        if self.spec.num_outputs == 2:
            signs = signs[:, 1:]
        if data.weights is None:
            return Problem(inputs, signs)
        steps = data.weights.cpu().double()
        counted = steps > 0  # what counts nothing would be a mistake for ever
        return Problem(inputs[counted], (signs * steps[:, None])[counted])

    def _keep(self, rows: Rows | None, epoch: int) -> None:
        if rows is None:
            return
        with torch.no_grad():
            self.scores.weight.copy_(rows.weight)
            self.scores.bias.copy_(rows.bias)
        self.kept_pass.fill_(epoch)


class AveragedPerceptron(Perceptron):
    """The same rule; the mean of the weights over all visits answers, which wavers less."""

    settings: ClassVar[type[Config]] = AveragedPerceptronConfig
    card: ClassVar[Card] = Card(
        sentence="A perceptron that answers with the mean of all the weights that it ever had.",
        formula=r"f(x) = \operatorname{sgn}(\bar w^T x + \bar b), \quad"
        r" \bar w = \frac{1}{T} \sum_{t=1}^{T} w_t",
        symbols={**SYMBOLS, "w_t": "weights after visit t, (D)", "T": "visits, mistakes or not"},
        source="Freund and Schapire (1999), Machine Learning 37, 277-296",
    )
    keeper: ClassVar[type[Keeper]] = Average

    @property
    def kept_step(self) -> None:
        """None: the mean over all passes answers."""
        return


def _zeros(problem: Problem) -> Rows:
    rows, width = problem.pulls.shape[1], problem.inputs.shape[1]
    return Rows(
        torch.zeros(rows, width, dtype=torch.float64), torch.zeros(rows, dtype=torch.float64)
    )


def _decide(problem: Problem) -> int:
    """Whether each row's classes are separable, where that can be found out in seconds."""
    if problem.inputs.numel() > MOST_NUMBERS:
        return UNKNOWN
    sides = problem.pulls.sign().T
    try:
        return YES if all(is_separable(problem.inputs, side) for side in sides) else NO
    except RunError:
        return UNKNOWN
