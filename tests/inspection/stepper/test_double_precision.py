"""Copies are wide and at rest, and code that names a narrow format computes in float64 too."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.inspection.stepper.double_precision import Widening, double_copy, in_float64, widened
from netwright.inspection.stepper.step_through import step_through


class Halved(torch.autograd.Function):
    """A function of its own that names a format."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.float() / 2

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        return grads[0] / 2


class Narrow(nn.Module):
    """To float32 and back, as in many models, and a plain tensor of that format."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.scale, self.head = nn.Parameter(torch.rand(3)), nn.Linear(3, 3)
        self.table = torch.randn(3, 2)
        self.picks = nn.Parameter(torch.tensor([0, 1]), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        h = x.to(torch.float32)
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        read = self.head(self.scale * h.float().type_as(torch.zeros(1, dtype=torch.float16)))
        read = Halved.apply(read @ self.table)  # type: ignore[no-untyped-call]
        found: Tensor = read[:, self.picks].half().sum()
        return found


def test_both_runs_of_a_model_that_names_a_format_are_in_float64() -> None:
    stepped = step_through(Narrow(), torch.tensor([[0.3, -1.0, 2.0]]))
    assert stepped.disagreement < 1e-14
    assert {step.check.verdict for step in stepped.steps if step.check} == {"ok"}


def test_within_it_new_tensors_are_wide_and_afterwards_as_they_were() -> None:
    with pytest.raises(ValueError, match=r"^stop$"), in_float64(), Widening():
        assert torch.zeros(1).dtype == torch.ones(1, dtype=torch.bfloat16).dtype == torch.float64
        assert torch.ones(1).float().dtype == torch.float64
        raise ValueError("stop")
    assert torch.zeros(1).dtype == torch.ones(1).float().dtype == torch.float32


def test_whole_numbers_stay_and_complex_ones_are_wide() -> None:
    assert widened(torch.tensor([1])).dtype == torch.int64
    assert widened(torch.tensor([1j])).dtype == torch.complex128


def test_what_two_modules_share_their_copies_share() -> None:
    first, second = nn.Linear(2, 2).requires_grad_(False), nn.Linear(2, 2)
    second.weight = first.weight
    one, other = double_copy((first, second))
    assert one.weight is other.weight and one.weight is not first.weight
    assert one.weight.requires_grad and one.weight.dtype == torch.float64
    assert first.weight.dtype == torch.float32 and not first.weight.requires_grad


class Compiled(nn.Module):
    """As torch.compile wraps a module: with a forward that hides its operations."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self._orig_mod = module

    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError("compiled code ran")


def test_a_compiled_model_is_seen_in_its_operations() -> None:
    model = Compiled(nn.Sequential(nn.Linear(2, 1), nn.Tanh()))
    shown = [step.name for step in step_through(model, torch.ones(1, 2)).steps]
    assert shown[-2:] == ["linear", "tanh"]
