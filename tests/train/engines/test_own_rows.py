"""A step on a rank's own rows leaves what a step on whole tensors would."""

import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from torch.optim import Optimizer

from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.eager import SGD, AdamW
from netwright.train.engines import own_rows
from netwright.train.engines.own_rows import on_own_rows
from netwright.train.engines.sharded import ShardedEngine
from netwright.train.ranks import ALONE, joined

NAMES = ("adamw", "momentum", "lion", "rmsprop", "adagrad")
SHAPES = ((4, 3), (3,), (1,))


@pytest.fixture(autouse=True)
def group() -> Iterator[None]:
    """A process group of this process alone."""
    with joined(60.0, shards=True):
        yield


def numbers(seed: int) -> list[torch.Tensor]:
    draws = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=draws) for shape in SHAPES]


def divided(tensors: list[torch.Tensor]) -> list[nn.Parameter]:
    mesh = init_device_mesh("cpu", (1,))
    return [nn.Parameter(distribute_tensor(one, mesh, [Shard(0)])) for one in tensors]


def give(weights: list[nn.Parameter], seed: int) -> None:
    """A gradient to all but the second in the first step."""
    gradients = numbers(seed)
    for place, (weight, gradient) in enumerate(zip(weights, gradients, strict=True)):
        is_divided = isinstance(weight.data, DTensor)
        whole = divided([gradient])[0].data if is_divided else gradient
        weight.grad = None if (place, seed) == (1, 1) else whole


@pytest.mark.parametrize("name", NAMES)
def test_weights_and_memory_have_the_bits_of_plain_ones(name: str) -> None:
    entry = OPTIMIZERS.load(name)
    make: Any = entry.make
    plain, parts = [nn.Parameter(one) for one in numbers(0)], divided(numbers(0))
    made: list[Optimizer] = [make(list(w), lr=0.1, **entry.presets) for w in (plain, parts)]
    for seed in (1, 2, 3):
        for weights, optimizer in zip((plain, parts), made, strict=True):
            give(weights, seed)
            if weights is plain:
                optimizer.step()
                continue
            with on_own_rows(optimizer):
                held = optimizer.param_groups[0]["params"]
                assert not any(isinstance(one, DTensor) for one in held)
                optimizer.step()
    assert made[1].param_groups[0]["params"] == parts
    kept: list[dict[str, Any]] = [one.state_dict()["state"] for one in made]
    for one, other in zip(plain, parts, strict=True):
        assert isinstance(other.data, DTensor)
        assert torch.equal(one, other.data.to_local())
    assert kept[0].keys() == kept[1].keys()
    for place, mine in kept[0].items():
        for key, value in mine.items():
            theirs = kept[1][place][key]
            if isinstance(value, torch.Tensor) and value.ndim:
                assert isinstance(theirs, DTensor) and theirs.placements == (Shard(0),)
                theirs = theirs.to_local()
            assert torch.equal(torch.as_tensor(value), torch.as_tensor(theirs)), (place, key)


def test_new_moments_are_there_twice_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, alive = list[weakref.ref[Any]](), list[int]()
    divided_as = own_rows._divided_as

    def counted(*given: Any) -> Any:
        alive.append(sum(one() is not None for one in plain))
        return divided_as(*given)

    monkeypatch.setattr(own_rows, "_divided_as", counted)
    parts = divided(numbers(0))
    optimizer = AdamW(parts, lr=0.1)
    give(parts, 2)
    with own_rows.on_own_rows(optimizer):
        optimizer.step()
        for kept in optimizer.state.values():
            plain += [weakref.ref(value) for value in kept.values() if value.ndim]
    # Of three weights: their count of steps, which stays as it is, and two moments.
    assert alive == [6, 6, 5, 4, 4, 3, 2, 2, 1]


def test_an_error_in_a_step_leaves_the_optimizer_with_its_weights() -> None:
    parts = divided(numbers(0))
    optimizer = AdamW(parts, lr=0.1)
    give(parts, 2)
    with on_own_rows(optimizer):
        optimizer.step()
    memory = optimizer.state
    with pytest.raises(RuntimeError, match="stop"), on_own_rows(optimizer):
        raise RuntimeError("stop")
    assert optimizer.state is memory and set(memory) == set(parts)
    assert optimizer.param_groups[0]["params"] == parts


def test_only_a_step_that_is_known_to_be_of_each_number_is_taken_so() -> None:
    engine, parts = ShardedEngine(ALONE), divided(numbers(0))
    engine.kernel("auto", AdamW)
    for kind, is_known in ((AdamW, True), (SGD, False)):
        optimizer = kind(parts, lr=0.1)
        with engine.stepping(optimizer):
            held = optimizer.param_groups[0]["params"]
            assert is_known != isinstance(held[0], DTensor)
