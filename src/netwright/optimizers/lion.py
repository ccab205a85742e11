"""Lion: step by the sign of a blend of momentum and gradient.

Source: Chen et al., "Symbolic Discovery of Optimization Algorithms" (2023), arXiv 2302.06675.
"""

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.optim.optimizer import ParamsT

from netwright.core.card import Card
from netwright.core.checks import check_fraction, check_not_negative
from netwright.optimizers.foreach_optimizer import ForeachOptimizer, step_along
from netwright.optimizers.optimizer import OptimizerEntry


class Lion(ForeachOptimizer):
    """Every coordinate moves equally far, by lr; `rules.lion` is its formula.

    One buffer a weight, half of Adam's. Steps are long: start 3 to 10 times below Adam's rate,
    with 3 to 10 times its weight decay.

    Args:
        params: parameters, or groups of them.
        lr: the length of a step in each coordinate.
        betas: the share of the momentum in the blend that gives the step, and in the one kept.
        weight_decay: the pull toward zero, apart from the gradient.
        maximize: step up the gradient instead of down.
    """

    steps_on_device: ClassVar[bool] = True

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-4,
        *,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        check_not_negative("lr", lr)
        for index, beta in enumerate(betas):
            check_fraction(f"betas[{index}]", beta)
        check_not_negative("weight_decay", weight_decay)
        settings = {"lr": lr, "betas": betas, "weight_decay": weight_decay}
        super().__init__(params, {**settings, "maximize": maximize})

    def new_state(self, weight: Tensor) -> dict[str, Any]:
        """The momentum, from 0."""
        return {"exp_avg": torch.zeros_like(weight)}

    def update(
        self,
        group: dict[str, Any],
        weights: list[Tensor],
        gradients: list[Tensor],
        states: list[dict[str, Any]],
    ) -> None:
        """Four passes: blend, sign, step, and the blend that is kept."""
        beta_step, beta_kept = group["betas"]
        means = [state["exp_avg"] for state in states]
        directions = torch._foreach_lerp(gradients, means, beta_step)
        torch._foreach_sign_(directions)
        step_along(weights, directions, group["lr"])
        torch._foreach_lerp_(means, gradients, 1 - beta_kept)


LION = OptimizerEntry(
    make=Lion,
    lr=3e-4,
    card=Card(
        sentence="Step equally far in every coordinate, by the sign of a blend of momentum and "
        "gradient.",
        formula=r"w \leftarrow w - \eta \left(\mathrm{sign}(\beta_1 m + (1-\beta_1) g)"
        r" + \lambda w\right), \quad m \leftarrow \beta_2 m + (1-\beta_2) g",
        symbols={
            "w": "the weights",
            r"\eta": "the learning rate, `lr`: a third to a tenth of Adam's",
            "g": "the gradient of the loss at w",
            "m": "a running mean of g, from 0",
            r"\beta_1, \beta_2": "the share of m in the step and in what is kept, `betas`",
            r"\lambda": "`weight_decay`",
        },
        source="Chen et al. (2023), arXiv 2302.06675",
        misprint="Often said to be found by reinforcement learning; it was found by an "
        "evolutionary search over programs.",
    ),
)
