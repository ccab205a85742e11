"""Polyak's heavy ball: step against the gradient, and go on a share of the last step.

Source: Polyak, "Some Methods of Speeding up the Convergence of Iteration Methods" (1964).
"""

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.optim.optimizer import ParamsT

from netwright.core.card import Card
from netwright.core.checks import check_fraction, check_not_negative
from netwright.optimizers.foreach_optimizer import ForeachOptimizer, step_along
from netwright.optimizers.optimizer import OptimizerEntry


class HeavyBall(ForeachOptimizer):
    """Momentum whose memory holds steps, not gradients; `rules.heavy_ball` is its formula.

    A step that was taken at a high rate rolls on at full length after the rate has fallen, where
    momentum scales its whole memory by the new rate. The decay of weights does not roll on.

    Args:
        params: parameters, or groups of them.
        lr: the learning rate.
        momentum: the share of a step that the next one keeps.
        weight_decay: the pull toward zero, apart from the gradient.
        maximize: step up the gradient instead of down.
    """

    steps_on_device: ClassVar[bool] = True

    def __init__(
        self,
        params: ParamsT,
        lr: float = 0.05,
        *,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        check_not_negative("lr", lr)
        check_fraction("momentum", momentum)
        check_not_negative("weight_decay", weight_decay)
        settings = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay}
        super().__init__(params, {**settings, "maximize": maximize})

    def new_state(self, weight: Tensor) -> dict[str, Any]:
        """The last step, from 0."""
        return {"last_step": torch.zeros_like(weight)}

    def update(
        self,
        group: dict[str, Any],
        weights: list[Tensor],
        gradients: list[Tensor],
        states: list[dict[str, Any]],
    ) -> None:
        """Keep the last step in place of the last weights: three passes, and no copy."""
        steps = [state["last_step"] for state in states]
        torch._foreach_mul_(steps, group["momentum"])
        step_along(steps, gradients, group["lr"])
        torch._foreach_add_(weights, steps)


HEAVY_BALL = OptimizerEntry(
    make=HeavyBall,
    lr=0.05,
    card=Card(
        sentence="Step against the gradient and add a fraction of the last step; equal to "
        "momentum while the learning rate is constant.",
        formula=r"w_{k+1} = w_k - \eta_k g_k + \beta (w_k - w_{k-1})",
        symbols={
            "w_k": "the weights before step k",
            r"\eta_k": "the learning rate of step k, `lr`; when it falls, the last step still goes "
            "on at its old length, while momentum shortens its memory too",
            "g_k": "the gradient of the loss at w_k",
            r"\beta": "the share of a step that the next one keeps, `momentum`, 0.9",
        },
        source="Polyak (1964), USSR Computational Mathematics 4(5), 1-17",
        misprint="The step under a constant gradient tends to eta (1 + beta + beta^2 + ...) = "
        "eta / (1 - beta) times it; often printed with a sum from beta^1, which loses the gradient "
        "at hand: 9 in place of 10 times eta.",
    ),
)
