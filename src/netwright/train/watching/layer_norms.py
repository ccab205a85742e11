"""How long the gradient, the weights and the step of each layer are, measured around one update.

    length of a layer = sqrt(sum of squares over all of its own weights)

A step is measured from a copy of the weights. Of a model too large to be copied every s-th of the n
numbers of a weight is kept, k of them, and stands for its neighbours:

    length of a step ~ sqrt(n / k * sum of squares over the k)

Everything stays on the device until it is read: no update waits for it.

Shapes: B examples, L layers.
"""

import itertools
import math
import operator
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from netwright.core.evaluation import evaluating
from netwright.core.trees import Tree, cuda_devices, take_rows
from netwright.train.engines.engine import Engine
from netwright.train.watching.layer_history import Numbers
from netwright.train.watching.lengths import lengths_of

MOST_COPIED = 2**24  # numbers that are kept aside for one step
FEW = 2  # rows tell the order of layers; a single one may be squeezed away


class LayerNorms:
    """The weights of a model by layer; a weight that two layers share belongs to the first.

    Args:
        model: whose updates are measured.
        inputs: a batch (B, ...), by which the layers are put in the order in which they first run;
            None: as they are declared.
        engine: adds up what ranks measure that hold parts of the weights.
    """

    def __init__(
        self, model: nn.Module, inputs: Tree | None = None, engine: Engine | None = None
    ) -> None:
        self.engine = engine or Engine()
        self.layers: dict[str, nn.Module] = {}
        self.weights: list[nn.Parameter] = []
        self.owners: list[int] = []  # of each weight, the place of its layer
        known: set[int] = set()
        for path, part in _in_order(model, {} if inputs is None else first_uses(model, inputs)):
            own = [
                weight
                for weight in part.parameters(recurse=False)
                if id(weight) not in known and weight.numel()  # one without elements has no length
            ]
            known |= {id(weight) for weight in own}
            if own:
                self.owners += [len(self.layers)] * len(own)
                self.layers[path or "model"] = part
            self.weights += own
        sizes = [weight.numel() for weight in self.weights]
        self.spacings = _spacings(sizes)
        self.factors = [  # sqrt(n / k)
            math.sqrt(size / math.ceil(size / spacing)) if size else 1.0
            for size, spacing in zip(sizes, self.spacings, strict=True)
        ]
        self.before: list[Tensor] = []
        self.gradients: list[Tensor] = []

    @torch.no_grad()
    def take_gradients(self) -> None:
        """Gradients are there, the weights have not moved; a second time only gradients count."""
        if not self.gradients:
            now = self._followed()
            self.before = [torch.empty_like(part) for part in now]
            torch._foreach_copy_(self.before, now)  # one kernel for many small weights
        there = self.engine.own(w.grad for w in self.weights if w.grad is not None)
        found = iter(lengths_of(there).unbind())
        nothing = torch.zeros((), device=self.weights[0].device)
        # Of several optimizers each has its turn: those before keep what was seen of them.
        before = self.gradients or [nothing] * len(self.weights)
        self.gradients = [
            kept if weight.grad is None else next(found)
            for weight, kept in zip(self.weights, before, strict=True)
        ]

    @torch.no_grad()
    def take_step(self, loss: Tensor) -> Tensor:
        """The weights have moved: what `read` makes sense of, on the device, not waited for."""
        torch._foreach_sub_(self.before, self._followed())  # the step back, which is as long
        parts = [*self.engine.own(self.weights), *self.before]
        norms = torch.cat([torch.stack(self.gradients), lengths_of(parts)])
        self.before, self.gradients = [], []
        norms = self.engine.whole_norms(norms)  # of weights that wait on the host, they are there
        return torch.cat([loss.float().reshape(1), norms.to(loss.device)])

    def read(self, taken: Tensor) -> tuple[float, dict[str, Numbers]] | None:
        """The loss of a step that was taken, and gradient, weight and update of each layer.

        None where a number is not finite: the step was left out.
        """
        numbers: list[float] = taken.tolist()
        if not all(map(math.isfinite, numbers)):
            return None
        count = len(self.weights)
        steps = map(operator.mul, self.factors, numbers[1 + 2 * count :])
        learns = [weight.requires_grad for weight in self.weights]
        return _rounded(numbers[0]), {
            "gradient": self._by_layer(numbers[1 : 1 + count], learns),
            "weight": self._by_layer(numbers[1 + count : 1 + 2 * count], [True] * count),
            "update": self._by_layer([*steps], [True] * count),
        }

    def _followed(self) -> list[Tensor]:
        """The numbers of each weight that are kept aside, as they are now."""
        return [
            weight.detach().flatten()[::spacing] if spacing > 1 else weight.detach()
            for weight, spacing in zip(self.engine.own(self.weights), self.spacings, strict=True)
        ]

    def _by_layer(self, norms: Sequence[float], counts: Sequence[bool]) -> Numbers:
        """Lengths of the weights -> of layers (L,); None where no weight counts."""
        squares: dict[int, float] = {}
        for owner, length, is_counted in zip(self.owners, norms, counts, strict=True):
            if is_counted:
                squares[owner] = squares.get(owner, 0.0) + length**2
        return tuple(
            _rounded(math.sqrt(squares[place])) if place in squares else None
            for place in range(len(self.layers))
        )


def _spacings(sizes: Sequence[int]) -> list[int]:
    """Of each weight, every which of its numbers is kept: all, or in a large model as many each.

    A spacing has no divisor in common with the size: it visits every row and column of a matrix.
    """
    if sum(sizes) <= MOST_COPIED:
        return [1] * len(sizes)
    most = max(1, MOST_COPIED // len(sizes))
    return [
        next(s for s in itertools.count(max(1, math.ceil(size / most))) if math.gcd(s, size) == 1)
        for size in sizes
    ]


def first_uses(model: nn.Module, inputs: Tree) -> dict[str, int]:
    """The paths of the modules that run, and how many ran before each; the model is left as it was.

    Args:
        model: any module of one input.
        inputs: a batch (B, ...), on the model's device.
    """
    used: dict[str, int] = {}

    def note(path: str) -> Any:
        def look(*_: Any) -> None:
            used.setdefault(path, len(used))

        return look

    draws = torch.random.fork_rng(cuda_devices(inputs))
    with ExitStack() as hooks, evaluating(model), draws:
        for path, part in model.named_modules():
            hooks.enter_context(part.register_forward_pre_hook(note(path)))
        model(take_rows(inputs, slice(FEW)))
    return used


def _in_order(model: nn.Module, used: Mapping[str, int]) -> list[tuple[str, nn.Module]]:
    """All modules; one that is not called itself stays behind the one declared before it."""
    place = 0
    found: list[tuple[int, str, nn.Module]] = []
    for path, part in model.named_modules():
        place = used.get(path, place)
        found.append((place, path, part))
    return [(path, part) for _, path, part in sorted(found, key=operator.itemgetter(0))]


def _rounded(number: float) -> float:
    """Six digits: what is written is short, and the same after a run was taken up again."""
    return float(f"{number:.6g}")
