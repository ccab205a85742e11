"""The loop that our own optimizers share: gather, decay, and update whole lists of tensors."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from netwright.core.errors import RunError
from netwright.optimizers.eager import EagerOptimizer


class ForeachOptimizer(EagerOptimizer, ABC):
    """A torch optimizer that updates all weights of a group at once.

    A subclass gives `new_state` and `update`, and never writes the loop again. `update` gets lists
    of equal length and works on them by torch's foreach functions: a few kernels a step on a GPU,
    not a few a tensor. Weight decay is apart from the gradient: w <- (1 - lr weight_decay) w.
    The gradients of a group with `maximize` are negated, so that no `update` has to know of it.
    """

    @abstractmethod
    def new_state(self, weight: Tensor) -> dict[str, Any]:
        """What is kept about a weight between steps, before the first."""

    @abstractmethod
    def update(
        self,
        group: dict[str, Any],
        weights: list[Tensor],
        gradients: list[Tensor],
        states: list[dict[str, Any]],
    ) -> None:
        """Change the weights, which have decayed already, and their states in place."""

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update; gives the loss that the closure finds before it, if there is one."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            weights = [weight for weight in group["params"] if weight.grad is not None]
            if not weights:
                continue
            gradients = [weight.grad for weight in weights]
            self._check_gradients(gradients)
            if group.get("maximize", False):  # groups saved before it was a setting have none
                gradients = list(torch._foreach_neg(gradients))
            for weight in weights:
                if not self.state[weight]:
                    self.state[weight].update(self.new_state(weight))
            if group["weight_decay"]:
                torch._foreach_mul_(weights, 1 - group["lr"] * group["weight_decay"])
            self.update(group, weights, gradients, [self.state[weight] for weight in weights])
        return loss

    def _check_gradients(self, gradients: list[Tensor]) -> None:
        for gradient in gradients:
            if gradient.layout != torch.strided or gradient.is_complex():
                raise RunError(
                    f"{type(self).__name__} needs real, dense gradients, "
                    f"got {gradient.dtype} as {gradient.layout}"
                )
