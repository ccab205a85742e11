"""Gradients are added over all ways to the loss, and each derivative is held against a measured."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.inspection.stepper import reverse_sweep
from netwright.inspection.stepper.node import Node
from netwright.inspection.stepper.reverse_sweep import sweep_back
from netwright.inspection.stepper.tape import record
from netwright.inspection.stepper.unrolled_modules import Clock


class Formula(nn.Module):
    """(a b + a)^2 of one parameter a and the input b."""

    def __init__(self, a: float) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.tensor(a, dtype=torch.float64))

    def forward(self, b: Tensor) -> Tensor:
        return (self.a * b + self.a) ** 2


def tape_of(model: nn.Module, x: Any) -> tuple[Node, ...]:
    ids = {id(parameter): name for name, parameter in model.named_parameters()}
    x = torch.as_tensor(x, dtype=torch.float64)
    return record(model, ids, x, lambda output: output, Clock())


@pytest.mark.covers("computational-graph")
@pytest.mark.parametrize(("a", "b"), [(3.0, 2.0), (-1.5, 0.25)])
def test_gradients_of_a_value_that_is_used_twice_add(a: float, b: float) -> None:
    """(ab + a)^2 by a is 2 (ab + a) (b + 1): b comes by one way and 1 by the other."""
    nodes = tape_of(Formula(a), b)
    sweep = sweep_back(nodes)
    assert [node.name for node in nodes] == ["x", "a", "*", "+", "power"]
    outer = 2 * (a * b + a)
    by_b, by_a = (float(gradient) for gradient in sweep.gradients[:2])
    assert by_a == pytest.approx(outer * (b + 1), rel=1e-12)
    assert by_b == pytest.approx(outer * a, rel=1e-12)
    to_a = {nodes[one.source].name: float(one.amount) for one in sweep.handed if one.target == 1}
    assert to_a == pytest.approx({"+": outer, "*": outer * b}, rel=1e-12)


def test_operations_are_gone_through_from_the_last_to_the_first() -> None:
    sources = [one.source for one in sweep_back(tape_of(Formula(1.0), 1.0)).handed]
    assert sources == sorted(sources, reverse=True)


def test_a_local_derivative_is_slopes_a_matrix_or_too_large() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 40), nn.Tanh()).double()
    nodes = tape_of(nn.Sequential(model, Summed()), [[0.3, -0.2]])
    by_name = {
        (nodes[one.source].where, nodes[one.target].name): one for one in sweep_back(nodes).handed
    }
    assert torch.equal(by_name["0.0", "x"].jacobian, model[0].weight)  # type: ignore[arg-type]
    assert torch.equal(by_name["0.0", "0.0.bias"].slopes, torch.ones(3).double())  # type: ignore
    slopes = by_name["0.1", "linear"].slopes
    assert slopes is not None
    torch.testing.assert_close(slopes, 1 - torch.tanh(nodes[3].value) ** 2)
    large = by_name["0.2", "tanh"]
    assert large.jacobian is None and large.slopes is None
    assert by_name["0.3", "linear"].slopes is not None  # slopes are kept however many


class Summed(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.sum()


class WithNothing(nn.Module):
    """Joins none of the numbers to all of them, as windows without global tokens do."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat((x[:, :0].unsqueeze(0).expand(2, -1, -1)[0], x), dim=1).pow(2).sum()


def test_what_is_empty_hands_on_nothing() -> None:
    nodes = tape_of(WithNothing(), [[3.0, -1.0]])
    sweep = sweep_back(nodes)
    assert "expand" in [node.name for node in nodes]
    assert sweep.gradients[0].tolist() == [[6.0, -2.0]]
    assert all(one.check.verdict != "off" for one in sweep.handed)


class Planted(torch.autograd.Function):
    """x^2, with a derivative that is wrong in its second number only."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        wrong: Tensor = 2 * ctx.saved_tensors[0] * grads[0]
        wrong[..., 1] *= 1.01
        return wrong


class Wrong(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = nn.Linear(2, 3), nn.Linear(3, 1)
        self.double()

    def forward(self, x: Tensor) -> Tensor:
        h = Planted.apply(torch.tanh(self.first(x)))  # type: ignore[no-untyped-call]
        return self.last(h).sum()  # type: ignore[no-any-return]


def test_a_planted_error_is_flagged_at_its_operation_and_in_the_gradients_below_it() -> None:
    nodes = tape_of(Wrong(), [[0.5, -1.0]])
    sweep = sweep_back(nodes)
    off = {nodes[one.source].name for one in sweep.handed if one.check.verdict == "off"}
    assert off == {"Planted"}
    wrong = [nodes[place].name for place, check in sweep.checks.items() if check.verdict == "off"]
    assert sorted(wrong) == ["first.bias", "first.weight", "linear", "tanh", "x"]
    assert len(sweep.checks) == len(nodes)


def test_zeros_of_relu_and_equal_maxima_are_kinks_and_no_errors() -> None:
    class Kinks(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.relu(x).max() + x.sum()

    nodes = tape_of(Kinks(), [0.0, 0.0, -1.0])
    sweep = sweep_back(nodes)
    verdicts = {nodes[one.source].name: one.check.verdict for one in sweep.handed}
    assert verdicts["relu"] == verdicts["max"] == "kink"
    assert sweep.checks[0].verdict == "kink"
    assert "off" not in {*verdicts.values(), *(one.verdict for one in sweep.checks.values())}


def test_of_a_long_tape_some_gradients_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = tape_of(nn.Sequential(*[nn.Tanh() for _ in range(20)], Summed()), [0.3])
    monkeypatch.setattr(reverse_sweep, "MOST_REPLAYED", 10 * len(nodes))
    checks = sweep_back(nodes).checks
    assert set(checks) == {0, 1, 6, 11, 16, 21}  # what is given, and five from first to last


def test_complex_numbers_have_right_gradients() -> None:
    class Turned(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            z = torch.view_as_complex(x) * torch.complex(torch.tensor(0.6), torch.tensor(0.8))
            return (z * z.conj()).real.sum() + torch.exp(z).imag.sum()

    x = torch.tensor([[0.5, 1.0], [-2.0, 0.1]], dtype=torch.float64, requires_grad=True)
    sweep = sweep_back(tape_of(Turned(), x.detach()))
    (wanted,) = torch.autograd.grad(Turned()(x), x)
    torch.testing.assert_close(sweep.gradients[0], wanted)
    assert {one.check.verdict for one in sweep.handed} == {"ok"}
    assert {one.verdict for one in sweep.checks.values()} == {"ok"}


def test_chance_is_refused() -> None:
    class Noisy(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return nn.functional.dropout(x, 0.5, training=True).sum()

    sentence = "dropout gives a different value each time: disable randomness to step through it"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        sweep_back(tape_of(Noisy(), [1.0] * 50))
