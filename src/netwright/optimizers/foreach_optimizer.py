"""The loop that our own optimizers share: gather, decay, and update whole lists of tensors.

As torch's fused optimizers do, those that step on the device leave a step out where `found_inf`, a
number there, is 1, and take their rate from there: no host has to read a number before the next.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from netwright.core.errors import RunError
from netwright.optimizers.eager import EagerOptimizer
from netwright.optimizers.held_tensors import HeldTensors


class ForeachOptimizer(EagerOptimizer, ABC):
    """A torch optimizer that updates all weights of a group at once.

    A subclass gives `new_state` and `update`, and never writes the loop again. `update` gets lists
    of equal length and works on them by torch's foreach functions: a few kernels a step on a GPU,
    not a few a tensor. Weight decay is apart from the gradient: w <- (1 - lr weight_decay) w.
    The gradients of a group with `maximize` are negated, so that no `update` has to know of it.
    """

    # Whether `update` takes a tensor as the rate, and changes states in place that are all tensors:
    # then a step is queued work alone, and can be undone.
    steps_on_device: ClassVar[bool] = False

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
        groups = [(group, _learning(group)) for group in self.param_groups]
        for _, weights in groups:
            self._begin(weights)
        bad: Tensor | None = getattr(self, "found_inf", None)
        held = None if bad is None else HeldTensors(list(self._moved(groups)))
        for group, weights in groups:
            if weights:
                self._update(group, weights)
        if held is not None and bad is not None:
            held.settle(bad)
        return loss

    def _update(self, group: dict[str, Any], weights: list[Tensor]) -> None:
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        self._check_gradients(gradients)
        if group.get("maximize", False):  # groups saved before it was a setting have none
            gradients = list(torch._foreach_neg(gradients))
        if group["weight_decay"]:
            torch._foreach_mul_(weights, 1 - group["lr"] * group["weight_decay"])
        self.update(group, weights, gradients, [self.state[weight] for weight in weights])

    def _begin(self, weights: Sequence[Tensor]) -> None:
        """States are there, on the devices of their weights; torch loads counts to the CPU."""
        for weight in weights:
            kept = self.state[weight]
            if not kept:
                kept.update(self.new_state(weight))
            for name, value in kept.items():
                if isinstance(value, Tensor) and value.device != weight.device:
                    kept[name] = value.to(weight.device)

    def _moved(self, groups: Sequence[tuple[Any, list[Tensor]]]) -> Iterator[Tensor]:
        """All that a step changes."""
        for _, weights in groups:
            for weight in weights:
                yield weight
                yield from (part for part in self.state[weight].values() if torch.is_tensor(part))

    def _check_gradients(self, gradients: list[Tensor]) -> None:
        for gradient in gradients:
            if gradient.layout != torch.strided or gradient.is_complex():
                raise RunError(
                    f"{type(self).__name__} needs real, dense gradients, "
                    f"got {gradient.dtype} as {gradient.layout}"
                )


def step_along(weights: list[Tensor], directions: Sequence[Tensor], rate: float | Tensor) -> None:
    """W <- w - rate d; the rate is a number, or one on the device."""
    if isinstance(rate, Tensor):
        torch._foreach_sub_(weights, torch._foreach_mul(list(directions), rate))
    else:
        torch._foreach_add_(weights, list(directions), alpha=-rate)


def _learning(group: dict[str, Any]) -> list[Tensor]:
    """The weights of a group that have gradients."""
    return [weight for weight in group["params"] if weight.grad is not None]
