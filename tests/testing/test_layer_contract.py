"""The layer contract: torch's own layers pass, and each check catches one that breaks it."""

import itertools
from collections.abc import Callable, Iterator
from typing import ClassVar

import pytest
import torch
from torch import Tensor, nn

from netwright.testing import layer_contract as contract
from netwright.testing.layer_contract import LAYER_CHECKS, Build
from tests.repetition import for_each

Check = Callable[[Build], None]


class Sound(nn.Module):
    """A weight for each feature."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


class NotFinite(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return (x * self.weight).sqrt()


class LosesTheBatch(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return (x * self.weight).sum(dim=0, keepdim=True)


class HalfPrecision(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return (x * self.weight).bfloat16()


class SingleOnly(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return x.float() * self.weight.float()


class Random(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight + torch.randn_like(x)


class DrawsForNothing(Sound):
    def forward(self, x: Tensor) -> Tensor:
        torch.rand(1)
        return x * self.weight


class LooksAtNeighbours(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight - x.mean(dim=0)


class WritesIntoItsInput(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return x.mul_(2) * self.weight


class WrongGradient(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight + (x**2).detach()


class Unused(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.spare = nn.Parameter(torch.ones(1))


class OwnChance(Sound):
    count: ClassVar[Iterator[int]] = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        nn.init.constant_(self.weight, float(next(self.count)))


class HiddenState(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.shift = torch.randn(4)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight + self.shift


def built(kind: Callable[[], nn.Module]) -> Build:
    return lambda: (kind(), torch.randn(3, 4))


@for_each("check", LAYER_CHECKS, ids=lambda check: check.__name__)
@for_each(
    "kind",
    [
        Sound,
        lambda: nn.Linear(4, 2),
        lambda: nn.BatchNorm1d(4),
        lambda: nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5), nn.LayerNorm(3)),
    ],
    ids=["Sound", "Linear", "BatchNorm1d", "Sequential"],
)
def test_sound_layer_passes(kind: Callable[[], nn.Module], check: Check) -> None:
    check(built(kind))


@for_each(
    ("check", "kind", "message"),
    [
        (contract.check_output_is_finite, NotFinite, "the output is not finite"),
        (contract.check_output_is_finite, LosesTheBatch, "3 examples gave 1 outputs"),
        (contract.check_output_is_finite, HalfPrecision, "float32 became torch.bfloat16"),
        (contract.check_works_in_double_precision, SingleOnly, "float64 became torch.float32"),
        (contract.check_computes_the_same_twice, Random, "two outputs for one input differ"),
        (contract.check_computes_the_same_twice, DrawsForNothing, "drew random numbers"),
        (contract.check_treats_each_example_by_itself, LooksAtNeighbours, "alone and together"),
        (contract.check_leaves_its_input_alone, WritesIntoItsInput, "with training=True"),
        (contract.check_gradient_is_right, Unused, "no gradient reaches spare"),
        (contract.check_same_seed_same_weights, OwnChance, "weight differs"),
        (contract.check_state_goes_to_another_layer, HiddenState, "not in its state_dict"),
    ],
)
def test_broken_layer_is_caught(check: Check, kind: type[nn.Module], message: str) -> None:
    assert check in LAYER_CHECKS
    with pytest.raises(AssertionError, match=message):
        check(built(kind))


def test_wrong_gradient_is_caught() -> None:
    with pytest.raises(AssertionError, match="backward and finite differences part"):
        contract.check_gradient_is_right(built(WrongGradient))


def test_what_is_no_layer_is_refused() -> None:
    with pytest.raises(AssertionError, match="build must give a module, got builtin_function"):
        contract.check_output_is_finite(lambda: (torch.relu, torch.zeros(1)))  # type: ignore[return-value, arg-type]
