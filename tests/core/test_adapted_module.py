"""A module of several inputs or outputs, called as models are; its names and state are its own."""

import copy
import pickle
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call

from netwright.core.adapted_module import (
    AdaptedModule,
    float_kind,
    module_name,
    parts_of_output,
)
from netwright.core.errors import ShapeError
from netwright.core.evaluation import evaluating
from tests.repetition import for_each


@dataclass
class Said:
    hidden: Tensor
    logits: Tensor


Pair = namedtuple("Pair", ["logits", "aux"])


class Two(nn.Module):
    """Two inputs, a dict out, and a part that stays at rest."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(2, 3), nn.Linear(4, 3)
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("passes", torch.zeros((), dtype=torch.int64))

    def forward(self, a: Tensor, b: Tensor) -> dict[str, Tensor]:
        hidden = self.norm(self.left(a))
        return {"hidden": hidden, "logits": hidden + self.right(b)}

    def train(self, mode: bool = True) -> "Two":
        super().train(mode)
        self.norm.eval()
        return self


def inputs() -> tuple[Tensor, Tensor]:
    return torch.ones(5, 2), torch.ones(5, 4)


def test_a_tuple_is_arguments_by_place_and_a_dict_by_name() -> None:
    module = Two().eval()
    adapted, (a, b) = AdaptedModule(module, "logits"), inputs()
    wanted = module(a, b)["logits"]
    assert torch.equal(adapted((a, b)), wanted)
    assert torch.equal(adapted([a, b]), wanted)
    assert torch.equal(adapted({"b": b, "a": a, "not taken": a}), wanted)


def test_a_forward_of_one_argument_is_given_the_whole_tree() -> None:
    class One(nn.Module):
        def forward(self, batch: Any) -> Tensor:
            return batch["a"] if isinstance(batch, dict) else batch[0]  # type: ignore[no-any-return]

    a, b = inputs()
    assert AdaptedModule(One())({"a": a, "b": b}) is a
    assert AdaptedModule(One())((a, b)) is a


def test_a_forward_that_takes_anything_is_given_all_names() -> None:
    class TakesAll(nn.Module):
        def forward(self, **given: Tensor) -> Tensor:
            return torch.cat(list(given.values()), dim=1)

    a, b = inputs()
    assert AdaptedModule(TakesAll())({"a": a, "b": b}).shape == (5, 6)


def test_names_weights_and_state_are_those_of_the_module() -> None:
    module = Two()
    adapted = AdaptedModule(module, "logits")
    assert list(adapted.state_dict()) == list(module.state_dict())
    assert dict(adapted.named_parameters()) == dict(module.named_parameters())
    assert [name for name, _ in adapted.named_modules()] == ["", "left", "right", "norm"]
    other = Two()
    adapted.load_state_dict(other.state_dict())
    assert torch.equal(module.left.weight, other.left.weight)
    adapted.to(torch.float64)
    assert module.left.weight.dtype == torch.float64
    assert adapted.left is module.left
    assert module_name(adapted) == "Two"


def test_modes_are_set_as_the_module_sets_them_and_put_back() -> None:
    module = Two()
    adapted = AdaptedModule(module, "logits")
    assert adapted.training
    adapted.train()
    assert not module.norm.training
    with evaluating(adapted):
        assert not module.training
    assert module.training
    adapted.eval()
    assert not module.training
    assert not AdaptedModule(module).training


def test_copies_and_pickles_share_nothing_with_it_and_all_within() -> None:
    adapted = AdaptedModule(Two().eval(), "logits")
    for other in (copy.deepcopy(adapted), pickle.loads(pickle.dumps(adapted))):
        assert other.left is other.own.left
        assert other.left is not adapted.left
        assert torch.equal(other(inputs()), adapted(inputs()))
        other.to(torch.float64)
        assert {weight.dtype for weight in other.own.parameters()} == {torch.float64}


def test_weights_can_be_put_in_for_a_call() -> None:
    adapted = AdaptedModule(Two().eval(), "logits")
    zeros = {name: torch.zeros_like(weight) for name, weight in adapted.named_parameters()}
    assert not functional_call(adapted, zeros, (inputs(),)).any()
    assert adapted(inputs()).any()


def test_real_inputs_get_the_format_of_the_weights_and_whole_numbers_stay() -> None:
    module = nn.Linear(2, 3).double()
    assert AdaptedModule(module)(torch.ones(5, 2)).dtype == torch.float64
    table = nn.Embedding(4, 2).double()
    assert AdaptedModule(table)(torch.tensor([1])).dtype == torch.float64
    assert float_kind(nn.ReLU()) is None
    assert float_kind(nn.ModuleList([module, nn.Linear(1, 1)])) is None


@for_each(
    ("output", "names"),
    [
        ({"a": 1}, ["a"]),
        (OrderedDict(a=1), ["a"]),
        ((1, 2), [0, 1]),
        ([1], [0]),
        (Pair(1, 2), [0, 1, "logits", "aux"]),
        (Said(torch.ones(1), torch.ones(1)), ["hidden", "logits"]),
        ("text", []),
    ],
    ids=str,
)
def test_parts_have_the_names_that_their_kind_gives_them(output: Any, names: list[Any]) -> None:
    assert list(parts_of_output(output)) == names


def test_a_part_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(ShapeError, match=r"no part 'logit'; there are hidden, logits"):
        AdaptedModule(Two(), "logit")(inputs())
