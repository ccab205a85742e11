"""An optimizer's memory: what is whole, what is lacking, and how it comes back."""

from typing import Any

import torch
from torch import nn

from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from netwright.optimizers.schedules import SCHEDULES, build_schedule
from netwright.train.optimizer_state import (
    advance_schedule,
    find_missing_memory,
    follow_new_batches,
    restore_optimizer,
    unmoved_weights,
)
from tests.repetition import for_each
from tests.train.toy_runs import assert_same


class Branches(nn.Module):
    """Two layers, of which only the first is used."""

    def __init__(self) -> None:
        super().__init__()
        self.used, self.idle = nn.Linear(3, 2), nn.Linear(3, 2)


def build(model: nn.Module, name: str, **options: Any) -> torch.optim.Optimizer:
    return build_optimizer(
        OPTIMIZERS.load(name), model, lr=0.1, weight_decay=0.0, kernel="auto", options=options
    )


def moved(model: Branches, name: str, steps: int = 2) -> torch.optim.Optimizer:
    """An optimizer that has moved the used layer."""
    optimizer = build(model, name)

    def closure() -> Any:
        optimizer.zero_grad()
        outputs = model.used(torch.ones(4, 3))
        loss = outputs.square().sum()
        if OPTIMIZERS.load(name).graph:
            return loss, (outputs,)
        loss.backward()
        return float(loss.detach())

    for _ in range(steps):
        closure()
        optimizer.step(closure)
    return optimizer


def test_weights_without_a_gradient_are_unmoved() -> None:
    model = Branches()
    assert unmoved_weights(model, moved(model, "adam")) == ["idle.weight", "idle.bias"]
    every = [name for name, _ in model.named_parameters()]
    assert unmoved_weights(model, build(model, "adam")) == every


@for_each("name", list(OPTIMIZERS))
def test_the_memory_of_every_optimizer_in_the_catalog_is_found_whole(name: str) -> None:
    model = Branches()
    optimizer = moved(model, name)
    unmoved = unmoved_weights(model, optimizer)
    saved = optimizer.state_dict()
    assert find_missing_memory(model, build(model, name), saved, unmoved=unmoved) == ""


@for_each("name", list(OPTIMIZERS))
def test_every_piece_of_memory_is_missed_by_its_name(name: str) -> None:
    model = Branches()
    optimizer = moved(model, name)
    unmoved, whole = unmoved_weights(model, optimizer), optimizer.state_dict()
    pieces = [(index, key) for index, kept in whole["state"].items() for key in kept]
    pieces = [piece for piece in pieces if piece[1] != "al"]  # L-BFGS fills it anew in each step
    assert pieces or name in {"sgd", "gradient-descent", "newton"}  # no memory
    for index, key in pieces:
        kept = {place: dict(values) for place, values in whole["state"].items()}
        del kept[index][key]
        saved = {**whole, "state": kept}
        missing = find_missing_memory(model, build(model, name), saved, unmoved=unmoved)
        assert missing == f"optimizer/state/{index}/{key}"


def test_a_memory_of_nothing_at_all_is_missed() -> None:
    model = Branches()
    every = [name for name, _ in model.named_parameters()]
    saved = {**build(model, "adam").state_dict(), "state": {}}
    fresh = build(model, "adam")
    assert find_missing_memory(model, fresh, saved, unmoved=every) == "optimizer/state"
    plain = build(model, "sgd")  # it keeps nothing, so nothing can be lacking
    assert find_missing_memory(model, plain, plain.state_dict(), unmoved=every) == ""


def test_to_look_for_memory_leaves_model_and_optimizer_as_they_were() -> None:
    model = Branches()
    saved = moved(model, "adam").state_dict()
    fresh, weights = build(model, "adam"), [part.detach().clone() for part in model.parameters()]
    find_missing_memory(model, fresh, saved, unmoved=["idle.weight", "idle.bias"])
    assert_same([part.detach() for part in model.parameters()], weights)
    assert not fresh.state


def test_a_state_comes_back_with_its_settings_or_with_the_new_ones() -> None:
    model = Branches()
    saved = moved(model, "adam").state_dict()
    for with_settings, lr in ((True, 0.1), (False, 0.7)):
        optimizer = build(model, "adam")
        optimizer.param_groups[0]["lr"] = 0.7
        restore_optimizer(optimizer, saved, with_settings=with_settings)
        assert optimizer.param_groups[0]["lr"] == lr
        assert_same(optimizer.state_dict()["state"], saved["state"])


@for_each("name", list(SCHEDULES))
def test_a_schedule_brought_forward_is_where_it_would_be(name: str) -> None:
    def schedule() -> Any:
        return build_schedule(name, build(nn.Linear(2, 2), "sgd"), steps=20, warmup=3)

    stepped, brought = schedule(), schedule()
    for _ in range(7):
        stepped.optimizer.step()
        stepped.step()
    advance_schedule(brought, 7)
    assert brought.get_last_lr() == stepped.get_last_lr()
    assert brought.last_epoch == 7


def test_only_the_period_follows_new_batches() -> None:
    old, new = build(Branches(), "svrg", period=3), build(Branches(), "svrg", period=8)
    old.param_groups[0]["lr"] = 0.5
    follow_new_batches(old, new.state_dict())
    assert (old.param_groups[0]["period"], old.param_groups[0]["lr"]) == (8, 0.5)
    plain = build(Branches(), "sgd")
    follow_new_batches(plain, plain.state_dict())
    assert "period" not in plain.param_groups[0]


def test_a_state_that_was_lost_is_found_also_where_there_is_one_weight() -> None:
    model = nn.Linear(3, 1, bias=False)
    optimizer = build(model, "adam")
    empty = optimizer.state_dict()
    assert find_missing_memory(model, optimizer, empty, unmoved=["weight"]) == "optimizer/state"
    assert (
        find_missing_memory(model, build(model, "gradient-descent"), empty, unmoved=["weight"])
        == ""
    )
