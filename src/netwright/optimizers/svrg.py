r"""SVRG: stochastic steps without the noise of the batches.

    w <- w - eta (g_i(w) - g_i(w~) + mu),   mu = g(w~)

g_i is the gradient of a batch and g that of all rows. w~ is a snapshot of the weights, renewed
every `period` steps. What a batch gets wrong it gets wrong at the snapshot too, where the right
gradient is known: so the step is as right on average, and its noise vanishes as w and w~ meet.

Source: Johnson and Zhang, "Accelerating Stochastic Gradient Descent using Predictive Variance
Reduction" (2013).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.checks import check_not_negative
from netwright.optimizers.eager import EagerOptimizer
from netwright.optimizers.optimizer import OptimizerEntry, check_one_group


class SVRG(EagerOptimizer):
    """Gradient steps from which a snapshot takes the noise; each costs two gradients of a batch.

    Args:
        params: what to move.
        lr: the learning rate, which need not fall.
        period: steps between snapshots, each of which costs a gradient of all rows.
        maximize: step up the gradient instead of down.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.1,
        *,
        period: int = 100,
        maximize: bool = False,
    ) -> None:
        check_not_negative("lr", lr)
        if period < 1:
            raise ValueError(f"period must be at least 1, got {period}")
        super().__init__(params, {"lr": lr, "period": period, "maximize": maximize})
        check_one_group(self)

    @torch.no_grad()
    def step(  # type: ignore[override]
        self, closure: Callable[[], Any], full_closure: Callable[[], Any] | None = None
    ) -> Any:
        """Take one step; gives the loss before it.

        Args:
            closure: clears the gradients, computes those of the batch at hand and gives its loss.
                It is asked at two places, and has to draw the same dropout masks at both.
            full_closure: the same for all rows; without it the batch is taken for all rows.
        """
        (group,) = self.param_groups
        weights = group["params"]
        states = [self.state[weight] for weight in weights]
        taken = states[0].get("step", 0)
        if taken % group["period"] == 0:
            _, full = _evaluate(full_closure or closure, weights)
            for state, weight, gradient in zip(states, weights, full, strict=True):
                state.update(snapshot=weight.clone(), full=gradient)
        loss, direction = _evaluate(closure, weights)
        with _moved(weights, [state["snapshot"] for state in states]):
            _, known = _evaluate(closure, weights)
        torch._foreach_sub_(direction, known)
        torch._foreach_add_(direction, [state["full"] for state in states])
        sign = 1 if group.get("maximize", False) else -1
        torch._foreach_add_(weights, direction, alpha=sign * group["lr"])
        for state in states:
            state["step"] = taken + 1
        return loss


def _evaluate(closure: Callable[[], Any], weights: Sequence[Tensor]) -> tuple[Any, list[Tensor]]:
    """The loss and its gradients, which are 0 for weights that it does not use."""
    with torch.enable_grad():
        loss = closure()
    return loss, [
        torch.zeros_like(weight) if weight.grad is None else weight.grad.clone()
        for weight in weights
    ]


@contextmanager
def _moved(weights: list[Tensor], places: list[Tensor]) -> Iterator[None]:
    """The weights at other places; they come back at the end, also after an error."""
    here = [weight.clone() for weight in weights]
    torch._foreach_copy_(weights, places)
    try:
        yield
    finally:
        torch._foreach_copy_(weights, here)


SVRG_ENTRY = OptimizerEntry(
    make=SVRG,
    lr=0.1,
    closure=True,
    full_gradient=True,
    card=Card(
        sentence="Stochastic steps whose noise is taken out by a snapshot with a known gradient.",
        formula=r"w \leftarrow w - \eta\, (g_i(w) - g_i(\tilde w) + \mu),"
        r" \quad \mu = \frac{1}{n} \sum_i g_i(\tilde w)",
        symbols={
            "w": "the weights",
            r"\eta": "the learning rate, `lr`: it need not fall",
            "g_i": "the gradient of the loss of batch i",
            r"\tilde w": "the snapshot, renewed every `period` steps: in training, each epoch",
            r"\mu": "the gradient of all rows at the snapshot",
        },
        source="Johnson and Zhang (2013), NeurIPS 26, 315-323",
    ),
)
