"""The loop of our own optimizers: what a subclass is handed, decay, closures and refusals."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import RunError
from netwright.optimizers.foreach_optimizer import ForeachOptimizer
from netwright.optimizers.heavy_ball import HeavyBall
from netwright.optimizers.lion import Lion
from netwright.optimizers.muon import Muon


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


OURS: dict[str, Callable[[Any], ForeachOptimizer]] = {
    "lion": lambda params: Lion(params, 0.1, weight_decay=0.5),
    "muon": lambda params: Muon(params, 0.1, weight_decay=0.5),
    "heavy-ball": lambda params: HeavyBall(params, 0.1, weight_decay=0.5),
}


def stepped(build: Callable[[Any], ForeachOptimizer], bad: float | None) -> list[Tensor]:
    """All that two steps leave, of which the second is on gradients that are not finite."""
    random = torch.Generator().manual_seed(0)
    weights = [nn.Parameter(torch.randn(3, 4, generator=random)), weight(1.0, 2.0)]
    optimizer = build(weights)
    for number in (0.0, bad):
        for one in weights:
            one.grad = torch.randn(one.shape, generator=random)
        if number is None:
            break
        if number:
            weights[0].grad[1] = torch.nan  # type: ignore[index]
        optimizer.found_inf = torch.tensor(number)  # type: ignore[attr-defined]
        optimizer.step()
    states = [optimizer.state[one] for one in weights]
    return [*weights, *(part for state in states for part in state.values())]


@pytest.mark.parametrize("name", OURS)
def test_a_step_is_left_out_by_a_number_on_the_device(name: str) -> None:
    before, left_out, made = (stepped(OURS[name], bad) for bad in (None, 1.0, 0.0))
    assert all(map(torch.equal, before, left_out))
    assert not any(map(torch.equal, before, made))


@pytest.mark.parametrize("name", ["lion", "heavy-ball"])
def test_a_rate_on_the_device_is_taken_as_a_number(name: str) -> None:
    ends = []
    for on_device in (False, True):
        moved = nn.Parameter(torch.tensor([[0.3, -0.7], [0.2, 1.5]]))
        optimizer = OURS[name]([moved])
        if on_device:
            optimizer.param_groups[0]["lr"] = torch.tensor(0.1)
        for _ in range(3):
            moved.grad = moved.detach().cos()
            optimizer.step()
        ends.append(moved.detach())
    torch.testing.assert_close(*ends)


def test_counts_that_were_loaded_go_to_their_weights() -> None:
    optimizer = Counted([weight(1.0)])
    (only,) = optimizer.param_groups[0]["params"]
    only.grad = torch.ones(1)
    optimizer.step()
    optimizer.state[only]["steps"] = torch.zeros(1, device="meta")
    with pytest.raises(NotImplementedError, match="meta"):  # it is moved, and has no numbers
        optimizer.step()
