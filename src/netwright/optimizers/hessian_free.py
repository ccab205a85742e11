r"""Hessian-free optimization: a Newton step by conjugate gradients, with no matrix in memory.

    (G + lambda I) d = -g,   w <- w + eta d

G is Gauss-Newton's curvature, of which only products with vectors are needed. The damping lambda
follows how well the quadratic q foretold the loss f (Levenberg and Marquardt): with

    rho = (f(w + d) - f(w)) / (q(d) - q(0))

it grows by 3/2 where rho < 1/4, and falls by 2/3 where rho > 3/4. A step that raises the loss is
halved until it does not.

Shapes: P weights, all of them in one vector.
Source: Martens, "Deep Learning via Hessian-Free Optimization" (2010); Martens and Sutskever,
"Training Deep and Recurrent Networks with Hessian-Free Optimization" (2012).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.checks import check_not_negative, check_positive
from netwright.optimizers.conjugate_gradient import conjugate_gradient
from netwright.optimizers.curvature import GaussNewton, gradient_of, unflatten
from netwright.optimizers.eager import EagerOptimizer
from netwright.optimizers.optimizer import OptimizerEntry, check_one_group

Evaluation = Callable[[], tuple[Tensor, Sequence[Tensor]]]
MOST_HALVINGS = 10


def next_damping(damping: float, rho: float) -> float:
    """Levenberg and Marquardt's rule: trust the quadratic as far as it was right."""
    if rho > 0.75:
        return damping * 2 / 3
    return damping if rho >= 0.25 else damping * 3 / 2  # NaN is no good forecast either


class HessianFree(EagerOptimizer):
    """Newton steps with Gauss-Newton's curvature, found by conjugate gradients.

    For losses that are convex in the outputs: squared error, cross-entropy and their kin. `step`
    wants a closure that gives (loss, outputs) with their graph; it takes the derivatives itself,
    and asks again without gradients for the loss of weights that it tries.

    Args:
        params: what to move.
        lr: how much of the step is taken; 1 is Newton's.
        damping: lambda of the first step; 0 stays 0.
        cg_steps: products with the curvature that a step may cost.
        tol: the part of the gradient that conjugate gradients may leave unexplained.
        maximize: raise the loss, which is then to be concave in the outputs.
    """

    needs_graph: ClassVar[bool] = True

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1.0,
        *,
        damping: float = 1.0,
        cg_steps: int = 50,
        tol: float = 1e-3,
        maximize: bool = False,
    ) -> None:
        check_not_negative("lr", lr)
        check_not_negative("damping", damping)
        check_positive("cg_steps", cg_steps)
        check_positive("tol", tol)
        settings = {"lr": lr, "damping": damping, "cg_steps": cg_steps, "tol": tol}
        super().__init__(params, {**settings, "maximize": maximize})
        check_one_group(self)

    @torch.no_grad()
    def step(self, closure: Evaluation) -> Tensor:  # type: ignore[override]
        """Solve for a step and take as much of it as helps; gives the loss before."""
        (group,) = self.param_groups
        weights = group["params"]
        memory = self.state[weights[0]]
        damping = memory.get("damping", group["damping"])
        sign = -1 if group.get("maximize", False) else 1

        def evaluate() -> tuple[Tensor, Sequence[Tensor]]:
            loss, outputs = closure()
            return sign * loss, outputs

        with torch.enable_grad():
            cost, outputs = evaluate()
            gradient = gradient_of(cost, weights)
            curvature = GaussNewton(cost, outputs, weights)
        solved = conjugate_gradient(
            lambda v: curvature(v) + damping * v,
            -gradient,
            steps=group["cg_steps"],
            tol=group["tol"],
        )
        move = group["lr"] * solved.x
        foretold = gradient @ move + move @ curvature(move) / 2
        found = _move_while_it_helps(weights, unflatten(move, weights), evaluate, cost)
        memory["damping"] = next_damping(damping, float(found / foretold))
        return sign * cost.detach()


def _move_while_it_helps(
    weights: list[Tensor], move: list[Tensor], closure: Evaluation, loss: Tensor
) -> Tensor:
    """Move, half as far where the loss rises, and so on; gives the change by the whole move."""
    first, changes = [weight.clone() for weight in weights], []
    for halvings in range(MOST_HALVINGS):
        torch._foreach_copy_(weights, first)
        torch._foreach_add_(weights, move, alpha=0.5**halvings)
        changes.append(closure()[0] - loss)
        if changes[-1] <= 0:
            return changes[0]
    torch._foreach_copy_(weights, first)
    return changes[0]


HESSIAN_FREE = OptimizerEntry(
    make=HessianFree,
    lr=1.0,
    closure=True,
    full_batch=True,
    card=Card(
        sentence="A Newton step found by conjugate gradients: it needs products with the "
        "curvature, never the matrix.",
        formula=r"(G + \lambda I)\, d = -g, \quad w \leftarrow w + \eta d,"
        r" \quad G = J^\top H_L J",
        symbols={
            "w": "the weights, (P)",
            r"\eta": "the learning rate, `lr`: 1 is the whole step",
            "g": "the gradient of the loss at w, (P)",
            "J": "the derivative of the outputs by the weights",
            "H_L": "the second derivative of the loss by the outputs",
            r"\lambda": "`damping`: more after a step that the quadratic foretold badly",
        },
        source="Martens (2010), ICML 27, 735-742",
    ),
)
