"""About how long a pass through a model takes: views choose from it how much they look at.

It is worked out from the operations, not by a clock: so a view of a run is the same on every
machine and on every day.
"""

from typing import Any, NamedTuple

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from netwright.core.evaluation import evaluating
from netwright.core.trees import Tree
from netwright.inspection.inside.flops import counting_flops

CALL_SECONDS = 15e-6  # that torch spends on one operation, however small
FLOP_SECONDS = 1 / 4e9  # on one core, in layers of modest size
PLACE_SECONDS = 5e-9  # for one weight: it is worked out anew and put in its place
UPDATE_SECONDS = 1e-8  # for one weight: its gradient is written, and an optimizer moves it
UPDATE_PASSES = 3  # forward passes that going forward and back take as long as
MOST_SECONDS = 60.0  # that anyone waits who has not asked for it


class Cost(NamedTuple):
    """What a forward pass is made of.

    Args:
        calls: operations, whatever the number of examples.
        flops: floating-point operations, for one example.
        weights: of the model.
    """

    calls: int
    flops: int
    weights: int

    def seconds(self, rows: int) -> float:
        """Of a forward pass of so many examples, on one core."""
        return self.calls * CALL_SECONDS + rows * self.flops * FLOP_SECONDS

    def update_seconds(self, rows: int) -> float:
        """Of an update on so many examples."""
        return UPDATE_PASSES * self.seconds(rows) + self.weights * UPDATE_SECONDS

    def placed_seconds(self, rows: int) -> float:
        """Of a forward pass with other weights, on so many examples."""
        return self.seconds(rows) + self.weights * PLACE_SECONDS

    def rows_within(self, seconds: float) -> int:
        """How many examples a forward pass of so many seconds can take."""
        left = seconds - self.calls * CALL_SECONDS
        return max(0, int(left / (max(1, self.flops) * FLOP_SECONDS)))


def measure_cost(model: nn.Module, example: Tree) -> Cost:
    """Send one example (1, ...) through the model, which stays as it is."""
    # With gradients: the counter looks for their functions where outputs are parts of weights.
    calls = _Calls()  # type: ignore[no-untyped-call]
    with evaluating(model), torch.enable_grad(), counting_flops() as flops, calls:
        model(example)
    weights = sum(weight.numel() for weight in model.parameters())
    return Cost(calls=calls.count, flops=int(flops.get_total_flops()), weights=weights)


class _Calls(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the operations that run inside it."""

    count = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing is compiled here, and the wrapper imports the compiler

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))
