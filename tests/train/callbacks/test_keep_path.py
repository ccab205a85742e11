"""Snapshots along the way: few, evenly spread, true, and the same after a kill."""

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from netwright.recipes.fitting.fit import fit
from netwright.train.callback import Callback
from netwright.train.callbacks import keep_path
from netwright.train.callbacks.keep_path import KeepPath
from netwright.train.saving.kept_path import FILE, KeptPath, read_kept_path
from netwright.train.state import TrainState
from tests.train.toy_runs import assert_same, copy_of, toy_data, toy_fit, toy_net, toy_start


class Witness(Callback):
    """Notes the weights after every update."""

    def __init__(self) -> None:
        self.weights: dict[int, dict[str, Tensor]] = {}

    def on_fit_start(self, state: TrainState) -> None:
        self.weights[0] = copy_of(state.model)

    def on_step_end(self, state: TrainState) -> None:
        self.weights[state.step] = copy_of(state.model)


def kept(folder: Path) -> KeptPath:
    path = read_kept_path(folder)
    assert path is not None
    return path


START = toy_start(nn.Linear(3, 3))


@settings(max_examples=50, deadline=None)
@given(steps=st.integers(0, 300), most=st.integers(1, 30))
def test_the_kept_steps_are_the_multiples_of_the_least_power_of_two_that_fits(
    steps: int, most: int
) -> None:
    state = START
    state.step = 0
    call = KeepPath(Path("never written"), most)
    call.on_fit_start(state)
    for state.step in range(1, steps + 1):
        call.on_step_end(state)
    spacing = 1
    while steps // spacing + 1 > most:
        spacing *= 2
    assert list(call.path) == list(range(0, steps + 1, spacing))


@pytest.mark.parametrize("average", ["none", "exponential"])
def test_snapshots_are_the_weights_at_their_steps_and_the_end_is_one(
    tmp_path: Path, average: str
) -> None:
    """Those that training goes on with, also where their mean is what is kept."""
    witness = Witness()
    calls = [witness, KeepPath(tmp_path / FILE, 4)]
    state = toy_fit(toy_net(batch_norm=True), toy_data(), callbacks=calls, average=average)
    path = kept(tmp_path)
    assert path.steps == (0, 4, 8, 12, 15)
    assert state.step == 15
    for step, weights in path.snapshots.items():
        names = [name for name, _ in state.model.named_parameters()]
        assert_same({n: weights[n] for n in names}, {n: witness.weights[step][n] for n in names})


def test_only_what_is_learned_is_kept(tmp_path: Path) -> None:
    net = toy_net()
    net[0].requires_grad_(requires_grad=False)
    toy_fit(net, toy_data(), callbacks=[KeepPath(tmp_path / FILE, 4)])
    assert sorted(kept(tmp_path).weights) == ["3.bias", "3.weight"]


@pytest.mark.parametrize(("every", "names"), [(None, ["3.bias", "3.weight"]), (1, None)])
def test_what_is_frozen_to_the_end_takes_no_room(
    tmp_path: Path, every: int | None, names: list[str] | None
) -> None:
    small_run(tmp_path / "run", freeze="0", unfreeze_every=every)
    path = kept(tmp_path / "run")
    everything = sorted(name for name, _ in toy_net().named_parameters())
    assert sorted(path.weights) == (names or everything)


@pytest.mark.parametrize(("room", "steps"), [(2, None), (3, (0, 8, 15)), (8, (0, 4, 8, 12, 15))])
def test_room_for_fewer_thins_the_path_and_for_fewer_than_three_keeps_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, steps: tuple[int, ...] | None
) -> None:
    size = sum(weight.numel() for weight in toy_net().parameters()) * 4
    monkeypatch.setattr(keep_path, "MOST_BYTES", room * size)
    toy_fit(toy_net(), toy_data(), callbacks=[KeepPath(tmp_path / FILE, 7)])
    path = read_kept_path(tmp_path)
    assert (None if path is None else path.steps) == steps


def test_snapshots_stay_on_the_device_while_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """An accelerator is not waited for at a step."""

    def refuse(tensor: Tensor) -> Tensor:
        raise AssertionError("a snapshot was brought to the CPU")

    monkeypatch.setattr(Tensor, "cpu", refuse)
    state = toy_start()
    call = KeepPath(Path("never written"), 4)
    call.on_fit_start(state)
    assert list(call.path) == [0]


def test_none_are_kept_where_none_are_wanted(tmp_path: Path) -> None:
    toy_fit(toy_net(), toy_data(), callbacks=[KeepPath(tmp_path / FILE, 0)])
    assert read_kept_path(tmp_path) is None


def test_one_object_serves_several_runs(tmp_path: Path) -> None:
    call = KeepPath(tmp_path / FILE, 4)
    toy_fit(toy_net(), toy_data(), callbacks=[call])
    toy_fit(toy_net(seed=1), toy_data(), callbacks=[call], epochs=1)
    assert kept(tmp_path).steps == (0, 2, 4, 5)
    first = copy_of(toy_net(seed=1))["0.weight"]
    assert torch.equal(kept(tmp_path).snapshots[0]["0.weight"], first)


class Kill(Callback):
    """The power fails after so many updates."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_batch_end(self, state: TrainState) -> None:
        if state.step == self.step:
            raise KeyboardInterrupt


def small_run(folder: Path, *callbacks: Callback, **settings: Any) -> None:
    fixed: dict[str, Any] = {"epochs": 3, "batch_size": 4, "save_steps": 3, "keep_path": 4}
    data = toy_data(test=8)
    fit(toy_net(), data, out=folder, quiet=True, callbacks=callbacks, **fixed | settings)


def test_a_killed_run_leaves_the_same_path_as_one_that_was_not(tmp_path: Path) -> None:
    small_run(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        small_run(tmp_path / "killed", Kill(8))
    assert not (tmp_path / "killed" / FILE).exists()
    small_run(tmp_path / "killed", resume="auto")
    paths = [(tmp_path / name / FILE).read_bytes() for name in ("whole", "killed")]
    assert paths[0] == paths[1]
    assert kept(tmp_path / "whole").steps == (0, 4, 8, 12, 15)


def test_a_run_that_goes_on_passes_by_where_it_had_ended(tmp_path: Path) -> None:
    small_run(tmp_path / "run", epochs=1)
    assert kept(tmp_path / "run").steps == (0, 2, 4, 5)
    small_run(tmp_path / "run", resume="auto", keep_path=3)  # its number may change on the way
    assert kept(tmp_path / "run").steps == (0, 8, 15)
    small_run(tmp_path / "run", resume="auto", epochs=4, keep_path=0)
    assert kept(tmp_path / "run").steps == (0, 8, 15)


def test_a_rolled_back_epoch_leaves_no_trace(tmp_path: Path) -> None:
    """What was kept of the steps that did not count goes with them."""
    call = KeepPath(tmp_path / FILE, 9)
    state = toy_start()
    call.on_fit_start(state)
    before = call.state_dict()
    state.step = 1
    call.on_step_end(state)
    assert list(call.path) == [0, 1]
    call.load_state_dict(before)
    assert list(call.path) == [0]


def test_steps_behind_the_place_of_a_run_that_was_set_back_are_forgotten() -> None:
    call, state = KeepPath(Path("never written"), 9), toy_start()
    call.on_fit_start(state)
    for state.step in (1, 2, 3):
        call.on_step_end(state)
    state.step = 1
    call.on_epoch_start(state)
    assert list(call.path) == [0, 1]


def test_nothing_is_thinned_out_for_an_update_that_may_be_undone() -> None:
    call, state = KeepPath(Path("never written"), 3), toy_start()
    asked: list[int] = []
    state.confirm = lambda: asked.append(state.step)
    call.on_fit_start(state)
    for state.step in range(1, 9):
        call.on_step_end(state)
    assert list(call.path) == [0, 4, 8]
    assert asked == [3, 6]


def test_what_keeps_nothing_can_be_set_back() -> None:
    call, state = KeepPath(Path("never written"), 0), toy_start()
    call.on_fit_start(state)
    assert call.state_dict() == {}
    call.load_state_dict({})  # as a roll-back does, on ranks that keep no path
    assert (call.path, call.spacing) == ({}, 1)


def test_only_the_first_rank_keeps_anything() -> None:
    class Second:
        is_first = False

    state = toy_start()
    state.ranks = Second()  # type: ignore[assignment]
    call = KeepPath(Path("never written"), 4)
    call.on_fit_start(state)
    assert call.state_dict() == {}
