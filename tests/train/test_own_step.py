"""A step of one's own: the same run as ours where it takes the same loss; turns of optimizers."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import SGD, Adam

import netwright as nw
from netwright.core.adapted_module import AdaptedModule
from netwright.core.errors import ConfigError, RunError, ShapeError
from netwright.core.seeding import seeded
from netwright.data.loading.loader import Batch
from netwright.train.own.optimizer_group import OptimizerGroup
from netwright.train.own_step import Turns, check_loss, check_turn, own_module
from netwright.train.state import TrainState
from tests.repetition import for_each
from tests.train.toy_runs import FEATURES, OUTPUTS, assert_same, copy_of, toy_data, toy_net

SHORT: dict[str, Any] = {"epochs": 2, "batch_size": 8, "device": "cpu", "quiet": True}


def usual(module: nn.Module, batch: Batch) -> Tensor:
    return functional.cross_entropy(module(batch.inputs), batch.targets)


class Pair(nn.Module):
    """Two networks, of which one learns to be unlike the other."""

    def __init__(self) -> None:
        super().__init__()
        with seeded(0):
            self.first, self.second = nn.Linear(FEATURES, OUTPUTS), nn.Linear(FEATURES, OUTPUTS)


def by_turns(pair: Pair, batch: Batch) -> Turns:
    inputs, targets = batch[:2]
    yield "first", functional.cross_entropy(pair.first(inputs), targets)
    near = (pair.first(inputs) - pair.second(inputs)).square().mean()
    yield "second", near


TWO: dict[str, Any] = {"first": partial(SGD, lr=0.1, momentum=0.9), "second": Adam}


@pytest.mark.parametrize("settings", [{}, {"accumulate": 2, "clip_norm": 0.5, "l2": 0.01}], ids=str)
def test_the_usual_step_by_hand_is_the_usual_run(settings: dict[str, Any]) -> None:
    data, own, ours = toy_data(rows=40), toy_net(dropout=0.2), toy_net(dropout=0.2)
    by_hand = nw.fit(own, data, training_step=usual, save=False, **SHORT, **settings)
    by_name = nw.fit(ours, data, save=False, **SHORT, **settings)
    assert_same(copy_of(own), copy_of(ours))
    assert by_hand.results["metrics"] == by_name.results["metrics"]
    assert by_hand.history.series("val/loss") == by_name.history.series("val/loss")
    assert by_hand.history.series("train/loss") == pytest.approx(
        by_name.history.series("train/loss")
    )


def test_each_optimizer_steps_on_its_own_loss_before_the_next_is_made() -> None:
    """Worked by hand: the second loss sees the first network after its step."""
    data, pair, by_hand = toy_data(rows=16, val=0), Pair(), Pair()
    one: dict[str, Any] = {**SHORT, "epochs": 1, "batch_size": 16}
    run = nw.fit(pair, data, training_step=by_turns, optimizer=TWO, save=False, **one)
    first, second = TWO["first"](by_hand.first.parameters()), Adam(by_hand.second.parameters())
    rows = torch.randperm(16, generator=torch.Generator())  # the loss is a mean: any order
    batch = Batch(data.train.inputs[rows], data.train.targets[rows], None, rows)
    losses = {}
    for (name, loss), optimizer in zip(by_turns(by_hand, batch), (first, second), strict=True):
        losses[name] = loss.item()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if name == "second":
            by_hand.first.zero_grad()  # what leaked there moves nothing
        optimizer.step()
    for got, wanted in zip(pair.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(got, wanted)
    assert run.results["metrics"] == pytest.approx({**losses, "loss": sum(losses.values())})
    assert run.results["baseline"] == {}


def test_hooks_see_the_gradients_of_one_optimizer_at_a_time() -> None:
    seen: list[set[int]] = []

    def look(state: TrainState) -> None:
        assert isinstance(state.optimizer, OptimizerGroup)
        owners = {
            id(state.optimizer.owner(w)) for w in state.learned_weights() if w.grad is not None
        }
        seen.append(owners)

    given = {"on_before_update": look}
    nw.fit(
        Pair(),
        toy_data(rows=16),
        training_step=by_turns,
        optimizer=TWO,
        callbacks=given,
        save=False,
        **SHORT,
    )
    assert len(seen) == 2 * 2 * 2  # epochs, batches, turns
    assert all(len(owners) == 1 for owners in seen)
    assert seen[0] != seen[1]


def test_a_number_that_is_not_finite_stops_it_before_it_moves_anything() -> None:
    def bad(pair: Pair, batch: Batch) -> Turns:
        yield "first", pair.first(batch.inputs).mean()
        yield "second", pair.second(batch.inputs).mean() / (0.0 if broken else 1.0)

    broken = False
    pair = Pair()
    before: dict[str, Tensor] = {}

    def breaks(state: TrainState) -> None:
        nonlocal broken, before
        broken, before = True, copy_of(pair.second)

    with pytest.raises(RunError, match="non-finite value at step 3, epoch 2"):
        nw.fit(
            pair,
            toy_data(rows=16, val=0),
            training_step=bad,
            optimizer=TWO,
            callbacks={"on_epoch_end": breaks},
            save=False,
            **SHORT,
        )
    assert_same(copy_of(pair.second), before)


@for_each(
    ("settings", "sentence"),
    [
        ({"accumulate": 2}, "accumulate must be 1: each takes its own steps"),
        ({"on_non_finite": "skip"}, "on_non_finite must be stop or roll-back"),
        ({"compile": True}, "compile is not supported with your own training_step"),
        ({"patience": 2}, "patience needs 'val/loss', but layer 'model' fails on inputs"),
        ({"loss": nn.HuberLoss()}, "training_step makes the loss itself: remove loss"),
    ],
    ids=str,
)
def test_what_does_not_go_with_it_is_refused(settings: Any, sentence: str) -> None:
    given: dict[str, Any] = {"training_step": by_turns, "optimizer": TWO, "save": False}
    with pytest.raises(ConfigError, match=sentence):
        nw.fit(Pair(), toy_data(rows=16), **given, **SHORT, **settings)


def test_lbfgs_asks_for_the_loss_again() -> None:
    with pytest.raises(ConfigError, match="not supported with lbfgs, which asks for the loss"):
        nw.fit(toy_net(), toy_data(), training_step=usual, optimizer="lbfgs", save=False, **SHORT)


def test_losses_and_turns_are_checked() -> None:
    weight = torch.ones(2, requires_grad=True)
    assert check_loss(weight.sum()[None]).shape == ()
    for loss, sentence in (
        (1.0, "must be one number as a tensor, got float"),
        (weight, r"must be one number, got shape \(2,\): take its mean"),
        (torch.ones(()), "does not depend on any parameter of the model: look for detach"),
    ):
        with pytest.raises((ShapeError, ConfigError), match=sentence):
            check_loss(loss)
    group = OptimizerGroup({"a": SGD([weight], lr=1.0)})
    assert check_turn(("a", weight.sum()), group)[:2] == ("a", group)
    with pytest.raises(ConfigError, match="must yield pairs of 'a' and a loss, got"):
        check_turn(("b", weight.sum()), group)
    with pytest.raises(ConfigError, match="yields losses by name: give an optimizer for each"):
        check_turn(("a", weight.sum()), SGD([weight], lr=1.0))


def test_the_step_is_given_the_module_as_it_was_written() -> None:
    module = toy_net()
    assert own_module(AdaptedModule(module)) is module
    assert own_module(module) is module
