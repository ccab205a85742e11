r"""Newton's method: step to where the quadratic that touches the loss is flat.

    w <- w - eta (H + lambda I)^{-1} g

One step solves a quadratic, whatever its curvatures. Flat is also a saddle, and Newton's method
goes there: it follows no slope, it looks for a place without one.

Shapes: P weights, all of them in one vector.
Source: Nocedal and Wright, "Numerical Optimization" (2006), sections 2.2 and 3.3; Dauphin et al.,
"Identifying and Attacking the Saddle Point Problem" (2014).
"""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.checks import check_not_negative
from netwright.optimizers.curvature import gradient_of, hessian_of, unflatten
from netwright.optimizers.eager import EagerOptimizer
from netwright.optimizers.optimizer import OptimizerEntry, check_one_group


def newton_direction(hessian: Tensor, gradient: Tensor, damping: float = 0.0) -> Tensor:
    """-(H + damping I)^{-1} g, (P,); of many solutions the shortest, H may have any signs."""
    shift = damping * torch.eye(len(gradient), dtype=hessian.dtype, device=hessian.device)
    inverse: Tensor = torch.linalg.pinv(hessian + shift, hermitian=True)
    return -(inverse @ gradient)


class Newton(EagerOptimizer):
    """Newton's method with the whole Hessian: P^2 numbers and P^3 operations a step.

    `step` wants a closure that gives (loss, outputs) with their graph; it takes the derivatives
    itself.

    Args:
        params: what to move.
        lr: how much of the step is taken; 1 is Newton's.
        damping: what is added to all eigenvalues; more makes short steps along the gradient.
        max_parameters: more weights than this are refused.
        maximize: look for a maximum: the damping then bends steps up the gradient.
    """

    needs_graph: ClassVar[bool] = True

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1.0,
        *,
        damping: float = 0.0,
        max_parameters: int = 5000,
        maximize: bool = False,
    ) -> None:
        check_not_negative("lr", lr)
        check_not_negative("damping", damping)
        settings = {"lr": lr, "damping": damping, "max_parameters": max_parameters}
        super().__init__(params, {**settings, "maximize": maximize})
        check_one_group(self)
        count = sum(weight.numel() for weight in self.param_groups[0]["params"])
        if count > max_parameters:
            raise ValueError(
                f"the Hessian of {count} weights has {count**2} entries; max_parameters is "
                f"{max_parameters}, hessian-free needs no such matrix"
            )

    @torch.no_grad()
    def step(self, closure: Callable[[], tuple[Tensor, Any]]) -> Tensor:  # type: ignore[override]
        """Jump to where the quadratic around the weights is flat; gives the loss before."""
        (group,) = self.param_groups
        weights = group["params"]
        with torch.enable_grad():
            loss, _ = closure()
            cost = -loss if group.get("maximize", False) else loss
            gradient = gradient_of(cost, weights, create_graph=True)
        hessian = hessian_of(gradient, weights)
        direction = newton_direction(hessian, gradient.detach(), group["damping"])
        torch._foreach_add_(weights, unflatten(direction, weights), alpha=group["lr"])
        return loss.detach()


NEWTON = OptimizerEntry(
    make=Newton,
    lr=1.0,
    presets={"damping": 1.0},
    closure=True,
    full_batch=True,
    card=Card(
        sentence="Step to where the quadratic that touches the loss is flat, by the whole Hessian.",
        formula=r"w \leftarrow w - \eta (H + \lambda I)^{-1} g",
        symbols={
            "w": "the weights, (P)",
            r"\eta": "the learning rate, `lr`: 1 is Newton's step",
            "g": "the gradient of the loss at w, (P)",
            "H": "its Hessian, (P, P): it may have any signs, so saddles attract as minima do",
            r"\lambda": "`damping`: 1 keeps a network out of most saddles, 0 is Newton's own",
        },
        source="Nocedal and Wright (2006), Numerical Optimization, sections 2.2 and 3.3",
    ),
    code=(newton_direction, Newton.step),
)
