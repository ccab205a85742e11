"""The loop of our own optimizers: what a subclass is handed, decay, closures and refusals."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import RunError
from netwright.optimizers.foreach_optimizer import ForeachOptimizer


class Counted(ForeachOptimizer):
    """Plain descent that counts its steps."""

    def __init__(self, params: Any, lr: float = 0.1, weight_decay: float = 0.0) -> None:
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay})

    def new_state(self, weight: Tensor) -> dict[str, Any]:
        return {"steps": torch.zeros_like(weight)}

    def update(
        self,
        group: dict[str, Any],
        weights: list[Tensor],
        gradients: list[Tensor],
        states: list[dict[str, Any]],
    ) -> None:
        torch._foreach_add_(weights, gradients, alpha=-group["lr"])
        torch._foreach_add_([state["steps"] for state in states], 1)


def weight(*values: float) -> nn.Parameter:
    return nn.Parameter(torch.tensor(values))


def test_groups_step_at_their_own_rates_and_decay_first() -> None:
    first, second = weight(1.0), weight(1.0)
    groups = [{"params": [first], "lr": 0.1}, {"params": [second], "lr": 0.2, "weight_decay": 0.5}]
    optimizer = Counted(groups)
    first.grad = second.grad = torch.ones(1)
    optimizer.step()
    assert first.item() == pytest.approx(0.9)
    assert second.item() == pytest.approx((1 - 0.2 * 0.5) * 1 - 0.2)


def test_state_begins_with_the_first_gradient_and_lasts() -> None:
    early, late = weight(1.0), weight(1.0, 2.0)
    optimizer = Counted([early, late])
    early.grad = torch.ones(1)
    optimizer.step()
    assert late not in optimizer.state
    late.grad = torch.ones(2)
    optimizer.step()
    assert optimizer.state[early]["steps"].tolist() == [2]
    assert optimizer.state[late]["steps"].tolist() == [1, 1]


def test_a_step_without_any_gradient_does_nothing() -> None:
    only = weight(3.0)
    assert Counted([only], weight_decay=0.5).step() is None
    assert only.item() == 3.0


def test_a_closure_has_gradients_and_its_loss_is_given_back() -> None:
    only = weight(3.0)
    optimizer = Counted([only])

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = only.square().sum()
        torch.autograd.backward(loss)
        return loss

    assert optimizer.step(closure).item() == 9.0
    assert only.item() == pytest.approx(3 - 0.1 * 6)


def test_state_keeps_the_memory_format_of_the_weight() -> None:
    kernel = nn.Parameter(torch.ones(2, 3, 4, 4).to(memory_format=torch.channels_last))
    optimizer = Counted([kernel])
    kernel.grad = torch.ones_like(kernel)
    optimizer.step()
    assert optimizer.state[kernel]["steps"].is_contiguous(memory_format=torch.channels_last)


def test_torchs_hooks_are_called() -> None:
    only, calls = weight(1.0), []
    optimizer = Counted([only])
    optimizer.register_step_pre_hook(lambda *_: calls.append("before"))
    optimizer.register_step_post_hook(lambda *_: calls.append("after"))
    optimizer.step()
    assert calls == ["before", "after"]


def test_a_sparse_gradient_is_refused() -> None:
    table = nn.Embedding(5, 2, sparse=True)
    table(torch.tensor([1])).sum().backward()
    sentence = "Counted needs real, dense gradients, got torch.float32 as torch.sparse_coo"
    with pytest.raises(RunError, match=f"^{re.escape(sentence)}$"):
        Counted(table.parameters()).step()


def test_a_complex_gradient_is_refused() -> None:
    only = nn.Parameter(torch.zeros(1, dtype=torch.complex64))
    only.grad = torch.ones_like(only)
    sentence = "Counted needs real, dense gradients, got torch.complex64 as torch.strided"
    with pytest.raises(RunError, match=f"^{re.escape(sentence)}$"):
        Counted([only]).step()


def test_a_group_that_maximizes_climbs_while_another_descends() -> None:
    up, down = weight(1.0), weight(1.0)
    settings = {"params": [up], "maximize": True, "weight_decay": 0.5}
    optimizer = Counted([settings, {"params": [down]}])
    up.grad = down.grad = torch.ones(1)
    optimizer.step()
    assert up.item() == pytest.approx((1 - 0.1 * 0.5) + 0.1)  # the decay is no part of the loss
    assert down.item() == pytest.approx(0.9)
    assert up.grad.item() == 1.0  # what others read is left as it is
