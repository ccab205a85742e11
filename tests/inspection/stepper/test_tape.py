"""The tape holds what a model computed, in order, and every operation of it can be run again."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.inspection.stepper import tape
from netwright.inspection.stepper.node import Node
from netwright.inspection.stepper.tape import record
from netwright.inspection.stepper.unrolled_modules import Clock


class Computed(nn.Module):
    """A model of one weight w = (2, 3) and any function of x and w."""

    def __init__(self, function: Callable[[Tensor, Tensor], Any]) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.tensor([2.0, 3.0], dtype=torch.float64))
        self.function = function

    def forward(self, x: Tensor) -> Any:
        return self.function(x, self.w)


def taped(function: Callable[[Tensor, Tensor], Any]) -> tuple[Node, ...]:
    """The tape of the sum of what the function gives at x = (1, -4)."""
    model = Computed(function)
    x = torch.tensor([1.0, -4.0], dtype=torch.float64)
    return record(model, {id(model.w): "w"}, x, lambda output: output.sum(), Clock())


def names(nodes: tuple[Node, ...]) -> list[str]:
    return [node.name for node in nodes]


def assert_replays(nodes: tuple[Node, ...]) -> None:
    for node in nodes:
        if node.replay is not None:
            assert torch.equal(node.replay([nodes[one].value for one in node.inputs]), node.value)


def test_operations_are_recorded_in_order_with_what_they_are_made_of() -> None:
    nodes = taped(lambda x, w: torch.tanh(x * w) + w)
    assert names(nodes) == ["x", "w", "*", "tanh", "+", "sum"]
    assert [node.inputs for node in nodes] == [(), (), (0, 1), (2,), (3, 1), (4,)]
    assert [node.kind for node in nodes[:3]] == ["input", "parameter", "operation"]
    assert nodes[2].value.tolist() == [2.0, -12.0]
    assert_replays(nodes)


def test_what_is_constant_or_not_needed_is_left_out() -> None:
    def function(x: Tensor, w: Tensor) -> Tensor:
        torch.exp(w)  # nobody asks for it
        with torch.no_grad():
            scale = (w * 3).max()
        return x * scale * w.detach() * x.data

    assert names(taped(function)) == ["x", "*", "*", "*", "sum"]


def in_place(x: Tensor, w: Tensor) -> Tensor:
    h = x * w
    h += 1
    h.mul_(w)
    return torch.relu_(h)


def put_into_a_constant(x: Tensor, w: Tensor) -> Tensor:
    rows = torch.zeros(2, 2)
    rows[0] = x * w
    rows[1] = w
    return rows


def in_place_by_setting(x: Tensor, w: Tensor) -> Tensor:
    return nn.functional.leaky_relu(x * w, 0.1, True)


@pytest.mark.parametrize(
    ("function", "steps", "total"),
    [
        (in_place, ["*", "+", "*", "relu"], 6.0),
        (put_into_a_constant, ["*", "put", "put"], -5.0),
        (in_place_by_setting, ["*", "leaky_relu"], 0.8),
    ],
)
def test_a_change_in_place_is_a_new_value(
    function: Callable[[Tensor, Tensor], Tensor], steps: list[str], total: float
) -> None:
    nodes = taped(function)
    assert names(nodes) == ["x", "w", *steps, "sum"]
    assert nodes[2].value.tolist() == [2.0, -12.0]  # as it was before it was changed
    assert float(nodes[-1].value) == pytest.approx(total)
    assert_replays(nodes)


def test_a_tensor_that_was_changed_through_a_view_is_refused_when_it_is_used() -> None:
    def function(x: Tensor, w: Tensor) -> Tensor:
        h = x * w
        h.view(2, 1).add_(1)
        return h + 1

    sentence = (
        "the model uses a tensor that was changed in place through another view of it: write that "
        "change as an operation that gives a new tensor"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        taped(function)


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        return grads[0] * 2


TWICE: Any = Twice.apply  # taken before the tape could see it


def test_a_function_with_a_backward_of_its_own_is_one_operation() -> None:
    nodes = taped(lambda x, w: Twice.apply(x * w))  # type: ignore[no-untyped-call]
    assert names(nodes) == ["x", "w", "*", "Twice", "sum"]
    assert_replays(nodes)


def test_a_value_that_came_from_nowhere_is_refused() -> None:
    sentence = (
        "the model uses a value whose computation was not recorded (TwiceBackward): call an "
        "autograd.Function as its class, MyFunction.apply(...)"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        taped(lambda x, w: TWICE(x * w) + 1)


def test_torch_is_as_it_was_afterwards_also_after_a_refusal() -> None:
    before = torch.autograd.Function.__dict__["apply"]
    with pytest.raises(ConfigError):
        taped(lambda x, w: TWICE(x * w) + 1)
    assert torch.autograd.Function.__dict__["apply"] is before
    assert taped(lambda x, w: w)[-1].name == "sum"


def test_parts_of_a_result_are_values_of_their_own() -> None:
    nodes = taped(lambda x, w: torch.stack((x * w).chunk(2)[::-1]).max(dim=0).values)
    assert names(nodes) == ["x", "w", "*", "chunk[0]", "chunk[1]", "stack", "max[0]", "sum"]
    assert nodes[5].inputs == (4, 3)
    assert_replays(nodes)


def test_narrow_formats_are_computed_in_float64() -> None:
    nodes = taped(lambda x, w: (x.float() * w.to(torch.float16)).type(torch.bfloat16) / 3)
    assert {node.value.dtype for node in nodes} == {torch.float64}
    assert float(nodes[-1].value) == pytest.approx(-10 / 3, abs=1e-15)


def test_operations_know_their_module_and_its_call() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(2, 2, dtype=torch.float64)
    model = nn.Sequential(layer, nn.Tanh(), layer)
    ids = {id(parameter): name for name, parameter in model.named_parameters()}
    nodes = record(model, ids, torch.ones(1, 2, dtype=torch.float64), torch.sum, Clock())
    seen = [(node.name, node.where, node.moment) for node in nodes if node.replay]
    assert seen == [
        ("linear", "0", "call 1"),
        ("tanh", "1", ""),
        ("linear", "0", "call 2"),
        ("sum", "", ""),
    ]


@pytest.mark.parametrize(
    ("function", "got"), [(lambda x, w: w, "(2,)"), (lambda x, w: (w,), "tuple")]
)
def test_a_loss_is_one_number(function: Callable[[Tensor, Tensor], Any], got: str) -> None:
    model = Computed(function)
    sentence = f"backpropagation starts from one number, the loss, got {got}"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        record(model, {id(model.w): "w"}, torch.zeros(2).double(), lambda found: found, Clock())


def test_a_loss_without_a_gradient_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^the loss has no gradient: it must depend on param"):
        taped(lambda x, w: (w > 0).double())


@pytest.mark.parametrize(
    ("name", "what"), [("MOST_OPERATIONS", "operations"), ("MOST_NUMBERS", "numbers")]
)
def test_too_long_a_tape_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, what: str) -> None:
    monkeypatch.setattr(tape, name, 3)
    sentence = (
        f"one example takes more than 3 {what}, too many to step through: use a shorter sequence, "
        f"a smaller image or a smaller model"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        taped(lambda x, w: torch.tanh(torch.tanh(torch.tanh(x * w))))
