"""An update as a CUDA graph: the bits of its kernels one by one, only where nothing is missed."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import netwright as nw
from netwright.core.errors import ConfigError, RunError
from netwright.train.callback import Callback
from netwright.train.callbacks.doctor import Doctor
from netwright.train.callbacks.keep_path import KeepPath
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.callbacks.progress import Progress
from netwright.train.callbacks.step_rows import StepRows
from netwright.train.run_setting_groups import Policy
from netwright.train.state import TrainState
from netwright.train.step import UpdateStep
from netwright.train.updates import capture_rules, captured_update
from netwright.train.updates.captured_update import CapturedUpdate
from tests.train.callbacks.test_progress import FakeBar
from tests.train.each_task import EACH_TASK, Case, of_tags_by_lstm
from tests.train.toy_runs import (
    assert_same,
    copy_of,
    toy_data,
    toy_fit,
    toy_net,
    toy_start,
    toy_trainer,
)

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
ROWS, BATCH = 42, 4  # the last batch of an epoch is smaller


@pytest.fixture
def updates(monkeypatch: pytest.MonkeyPatch) -> list[CapturedUpdate]:
    """What was captured, of all runs of a test."""
    made: list[CapturedUpdate] = []
    allow = UpdateStep.allow_capture

    def keep(step: UpdateStep, callbacks: Any) -> None:
        allow(step, callbacks)
        if step.captured is not None:
            made.append(step.captured)

    monkeypatch.setattr(UpdateStep, "allow_capture", keep)
    return made


def run(capture: str, **settings: Any) -> tuple[TrainState, dict[str, Tensor]]:
    """Five epochs on CUDA with everything that a run has beside its updates."""
    calls = [GuardNonFinite(), StepRows(5), Doctor(None)]
    given: dict[str, Any] = {"device": "cuda", "epochs": 5, "batch_size": BATCH, **settings}
    net = toy_net(batch_norm=True, dropout=0.3)
    state = toy_fit(net, toy_data(rows=ROWS), callbacks=calls, capture=capture, **given)
    return state, copy_of(net)


@needs_cuda
@pytest.mark.parametrize(
    "settings",
    [
        {"optimizer": "adam"},
        {"optimizer": "adamw", "weight_decay": 0.1, "schedule": "cosine", "warmup": 5},
        {"optimizer": "momentum", "clip_norm": 0.5, "l2": 0.01},
        {"optimizer": "sgd", "lr": 0.1, "output_noise": 0.1},
        {"optimizer": "nesterov", "precision": "bf16-mixed", "average": "exponential"},
        {"optimizer": "adam", "input_noise": 0.1, "label_noise": 0.1},
        {"optimizer": "lion", "lr": 0.01, "weight_decay": 0.1, "schedule": "cosine"},
        {"optimizer": "muon", "weight_decay": 0.1, "schedule": "one-cycle"},
        {"optimizer": "heavy-ball", "clip_norm": 0.5, "schedule": "cosine"},
    ],
    ids=lambda settings: settings["optimizer"],
)
def test_a_graph_gives_the_bits_of_its_kernels_one_by_one(
    settings: dict[str, Any], updates: list[CapturedUpdate]
) -> None:
    with_graph, weights = run("on", **settings)
    without, wanted = run("off", **settings)
    assert len(updates) == 1
    assert updates[0].started > 20
    assert_same(weights, wanted)
    assert_same(with_graph.optimizer.state_dict()["state"], without.optimizer.state_dict()["state"])
    rows = [[(row.key, row.value) for row in state.history] for state in (with_graph, without)]
    same = {"step/samples_per_second", "step/memory"}
    kept = [[pair for pair in found if pair[0] not in same] for found in rows]
    assert kept[0] == kept[1]


@needs_cuda
def test_updates_that_get_a_row_run_by_the_graph_too(updates: list[CapturedUpdate]) -> None:
    given: dict[str, Any] = {"device": "cuda", "epochs": 3, "batch_size": BATCH}
    by_graph, one_by_one = (
        toy_fit(
            toy_net(),
            toy_data(rows=ROWS),
            callbacks=[GuardNonFinite(), StepRows(1)],
            schedule="cosine",
            capture=capture,
            **given,
        )
        for capture in ("on", "off")
    )
    assert updates[0].started > 20
    for name in ("step/gradient_norm", "step/lr", "step/loss"):
        found = by_graph.history.series(name)
        assert len(found) == by_graph.step
        assert found == one_by_one.history.series(name)


@needs_cuda
def test_bits_are_the_same_where_another_update_is_the_first_by_graph(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, wanted = run("on")
    monkeypatch.setattr(captured_update, "WARM", 11)
    assert_same(run("on")[1], wanted)


@needs_cuda
@pytest.mark.parametrize("optimizer", ["adam", "muon"])
def test_a_bad_batch_in_a_graph_moves_nothing_and_is_named(
    updates: list[CapturedUpdate], optimizer: str
) -> None:
    net = toy_net(batch_norm=True)
    good: dict[str, Tensor] = {}

    class Spoil(Callback):
        def on_step_end(self, state: TrainState) -> None:
            if state.step == 14:
                good.update(copy_of(state.model))
                data.train.inputs[:] = float("nan")

    data = toy_data(rows=ROWS, val=0).to(torch.device("cuda"))
    trainer = toy_trainer(
        data,
        callbacks=[GuardNonFinite(), Spoil()],
        device="cuda",
        epochs=9,
        capture="on",
        optimizer=optimizer,
    )
    state = trainer.start(net, data)
    with pytest.raises(RunError, match=r"at step 15, epoch 2, batch 4 .* the inputs of row"):
        trainer.fit(state, data)
    assert updates[0].started > 5
    assert_same(copy_of(net), good)
    assert state.step == 14


class Looks(Callback):
    """Wants to see every update."""

    def on_before_update(self, state: TrainState) -> None:
        self.seen = state.step


@needs_cuda
def test_a_callback_that_looks_at_all_updates_sees_all(updates: list[CapturedUpdate]) -> None:
    looks = Looks()
    state = toy_fit(
        toy_net(),
        toy_data(rows=ROWS),
        callbacks=[GuardNonFinite(), looks],
        device="cuda",
        epochs=3,
        capture="on",
    )
    assert looks.seen == state.step - 1
    assert updates[0].started == 0


@needs_cuda
def test_with_a_callback_of_the_callers_own_nothing_is_captured_unless_asked_for(
    updates: list[CapturedUpdate],
) -> None:
    class Unfreezes(Callback):
        def on_epoch_start(self, state: TrainState) -> None:
            for weight in state.model.parameters():
                weight.requires_grad_(True)

    for capture in ("auto", "on"):
        calls = [GuardNonFinite(), Unfreezes()]
        toy_fit(toy_net(), toy_data(), callbacks=calls, device="cuda", capture=capture)
    assert len(updates) == 1


@needs_cuda
def test_a_carried_state_goes_on_in_a_graph(tmp_path: Path) -> None:
    text, weights = tmp_path / "text.txt", []
    text.write_text("the quick brown fox jumps over the lazy dog\n" * 200)
    for capture in ("on", "off"):
        settings: dict[str, Any] = {
            **{"model.hidden": 8, "model.embedding": 4, "data.window": 8, "carry_state": True},
            **{"max_steps": 30, "batch_size": 16, "device": "cuda", "capture": capture},
        }
        run = nw.fit("lstm", text, save=False, quiet=True, **settings)
        weights.append(copy_of(run.model))
    assert_same(*weights)


@pytest.mark.parametrize("settings", [{"device": "cpu"}, {"device": "cpu", "optimizer": "lion"}])
def test_where_it_was_asked_for_and_cannot_be_the_reason_is_told(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="capture must be auto or off: it needs CUDA"):
        toy_fit(toy_net(), toy_data(), capture="on", **settings)


@needs_cuda
def test_what_cannot_be_captured_runs_on_and_says_why() -> None:
    data = toy_data(rows=ROWS)
    trainer = toy_trainer(data, callbacks=[GuardNonFinite()], device="cuda", epochs=4, capture="on")
    task = trainer.task
    whole = type(task).loss

    def reads(output: Any, batch: Any) -> Tensor:
        loss = whole(task, output, batch)
        assert loss.item() > 0  # waits
        return loss

    object.__setattr__(task, "loss", reads)
    net = toy_net(dropout=0.3)
    state = trainer.start(net, data)
    trainer.fit(state, data)
    assert state.is_whole
    assert "no CUDA graph was captured of an update" in state.notes[0]
    plain = toy_net(dropout=0.3)
    toy_fit(plain, data, callbacks=[GuardNonFinite()], device="cuda", epochs=4, capture="off")
    assert_same(copy_of(net), copy_of(plain))


@needs_cuda
def test_an_update_that_the_device_is_busy_with_is_not_captured() -> None:
    state = toy_trainer(toy_data(), device="cuda").start(toy_net(), toy_data())
    weights = torch.randn(4096, 4096, device="cuda")

    def long(batch: Any) -> Tensor:
        out = weights
        for _ in range(20):
            out = out @ weights
        return out

    update = CapturedUpdate(state, long)
    batch: Any = (torch.zeros(2, device="cuda"),)
    for _ in range(captured_update.WARM + 2):
        update.run(batch)
    assert not state.may_capture
    assert update.graph is None


@pytest.mark.parametrize(
    ("updates", "seconds", "is_worth_it"),
    [(100, 0.0, True), (99, 0.0, False), (20, 0.02, True), (20, 0.001, False)],
)
def test_many_updates_or_long_ones_are_worth_a_capture(
    updates: int, seconds: float, is_worth_it: bool
) -> None:
    state = toy_trainer(toy_data(), device="cpu").start(toy_net(), toy_data())
    state.last_step = updates
    update = CapturedUpdate(state, lambda batch: batch)
    assert not update._is_worth_it()  # it is not warm
    update.one_by_one, update.seconds = captured_update.WARM + 1, seconds
    assert update._is_worth_it() == is_worth_it


def test_an_optimizer_that_was_restored_is_warmed_up_again_before_a_capture() -> None:
    """Moments that are made in a capture would never be set to 0."""
    state = toy_start(optimizer="momentum")
    update = CapturedUpdate(state, lambda batch: torch.zeros(1), always=True)
    batch: Any = (torch.zeros(2),)
    for _ in range(captured_update.WARM + 1):
        update.run(batch)
    assert update._is_worth_it()
    state.optimizer.load_state_dict(state.optimizer.state_dict())
    update.run(batch)
    assert (update.graph, update.one_by_one) == (None, 1)


class Ring:
    """What only the collector frees."""

    def __init__(self, graph: torch.cuda.CUDAGraph) -> None:
        self.ring, self.graph = self, graph


@needs_cuda
def test_no_graph_of_an_earlier_run_is_freed_in_a_capture() -> None:
    """That would end it, and leave an error behind that a loader ran into much later."""
    before, collects = gc.get_threshold(), gc.isenabled()
    for _ in range(3):
        graph = torch.cuda.CUDAGraph()
        with captured_update._captured(graph):
            torch.zeros(1, device="cuda")
        Ring(graph)
    del graph
    gc.enable()
    gc.set_threshold(1, 1, 1)
    try:
        with captured_update._captured(torch.cuda.CUDAGraph()):
            made = [[] for _ in range(100)]  # type: ignore[var-annotated]
            torch.zeros(len(made), device="cuda")
        assert gc.isenabled()
    finally:
        gc.set_threshold(*before)
        if not collects:
            gc.disable()


@needs_cuda
def test_a_run_that_has_ended_holds_no_memory_of_its_graph(updates: list[CapturedUpdate]) -> None:
    run("on")
    assert updates[0].started
    assert (updates[0].graph, updates[0].batch) == (None, None)
    assert updates[0].logits.numel() == updates[0].loss.numel() == 0


class NoWait(Callback):
    """Lets any operation fail that makes the host wait for the device, after the first update."""

    only_changes_batch = True

    def on_batch_start(self, state: TrainState) -> None:
        if state.step:
            torch.cuda.set_sync_debug_mode("error")

    def on_batch_end(self, state: TrainState) -> None:
        if state.position == state.steps_per_epoch:
            torch.cuda.set_sync_debug_mode("default")

    def on_abort(self, state: TrainState) -> None:
        torch.cuda.set_sync_debug_mode("default")


@pytest.fixture(autouse=True)
def waits_are_allowed_again() -> Iterator[None]:
    yield
    if torch.cuda.is_available() and torch.cuda.get_sync_debug_mode():
        torch.cuda.set_sync_debug_mode("default")  # which warns where it was never changed


@pytest.fixture
def tests_are_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A callback of these tests does not count as a caller's own."""
    monkeypatch.setattr(capture_rules, "KNOWN", (*capture_rules.KNOWN, "tests."))


@needs_cuda
@pytest.mark.usefixtures("tests_are_ours")
@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
@pytest.mark.parametrize("capture", ["on", "off"])
@pytest.mark.parametrize("target", ["class", "labels", "real"])
def test_nothing_waits_for_the_device_in_an_epoch(target: Any, capture: str) -> None:
    calls = [GuardNonFinite(), StepRows(1), NoWait()]
    settings: dict[str, Any] = {"device": "cuda", "epochs": 2, "capture": capture, "clip_norm": 1.0}
    settings["average"] = "exponential"
    data = toy_data(target, rows=300)  # so many batches that losses and measures are added up
    state = toy_fit(toy_net(batch_norm=True), data, callbacks=calls, **settings)
    assert state.is_whole


@needs_cuda
@pytest.mark.usefixtures("tests_are_ours")
@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
def test_nothing_waits_for_the_loss_that_a_bar_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.train.callbacks.progress.Bar", FakeBar)
    progress = Progress()
    calls = [GuardNonFinite(), progress, NoWait()]
    toy_fit(toy_net(), toy_data(rows=300), callbacks=calls, device="cuda", epochs=2)
    bar: Any = progress.bar
    assert all("loss " in text for _, text in bar.moves)
    assert bar.moves


@needs_cuda
@pytest.mark.usefixtures("tests_are_ours")
@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
@pytest.mark.parametrize("policy", ["stop", "skip", "roll-back"])
@pytest.mark.parametrize("kind", EACH_TASK)
def test_nothing_waits_whatever_the_task_and_the_policy(
    tmp_path: Path, kind: str, policy: Policy
) -> None:
    assert without_waits(EACH_TASK[kind](), policy, tmp_path).is_whole


def without_waits(case: Case, policy: Policy, folder: Path) -> TrainState:
    """Two epochs on CUDA in which no operation may wait, with what watches a run."""
    watched = [KeepPath(folder / "path.safetensors", 100), Doctor(None)]
    return toy_fit(
        case.model,
        case.data,
        task=case.task,
        callbacks=[GuardNonFinite(policy, watched), *watched, NoWait()],
        **{"device": "cuda", "epochs": 2, "on_non_finite": policy, "capture": "auto"},
    )


@needs_cuda
@pytest.mark.usefixtures("tests_are_ours")
@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
def test_torch_itself_waits_where_it_packs_rows_for_a_recurrent_layer(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="synchronizing"):
        without_waits(of_tags_by_lstm(), "stop", tmp_path)


@needs_cuda
@pytest.mark.usefixtures("tests_are_ours")
@pytest.mark.parametrize("capture", ["on", "off"])
@pytest.mark.parametrize("policy", ["skip", "roll-back"])
def test_a_run_that_goes_on_is_the_same_by_graph_and_as_on_a_host_that_looks(
    policy: Policy, capture: str
) -> None:
    data = toy_data(rows=ROWS)
    data.train.inputs[5] = torch.nan
    ends = []
    for call in ([], [Looks()]):  # it wants to see every update: the host waits for each
        given: dict[str, Any] = {"device": "cuda", "epochs": 4, "on_non_finite": policy}
        given["capture"] = "off" if call else capture
        net, guard = toy_net(batch_norm=True, dropout=0.3), GuardNonFinite(policy)
        with pytest.MonkeyPatch.context() as patch:
            if call:
                patch.setattr(capture_rules, "KNOWN", ("netwright.",))
            state = toy_fit(net, data, callbacks=[guard, *call], **given)
        values = [(row.key, row.value) for row in state.history]
        ends.append([copy_of(net), state.passed_over, values, state.step, state.samples])
    assert len(state.passed_over) == 4
    assert_same(*ends)


@needs_cuda
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"optimizer": "rmsprop"}, "RMSprop is not used with a kernel that leaves steps out"),
        ({"accumulate": 2}, "accumulate"),
        ({"callbacks": [GuardNonFinite(), Looks()]}, "Looks is a callback of your own"),
    ],
)
def test_why_there_is_no_graph_is_told_once(settings: dict[str, Any], words: str) -> None:
    given = {"callbacks": [GuardNonFinite()], "device": "cuda", "epochs": 1, **settings}
    (note,) = toy_fit(toy_net(), toy_data(), **given).notes
    assert note.startswith("updates ran without a CUDA graph: ")
    assert words in note


def test_on_a_cpu_nobody_expects_a_graph() -> None:
    assert toy_fit(toy_net(), toy_data(), device="cpu", epochs=1).notes == []


@needs_cuda
@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
def test_a_guard_that_waits_is_seen_by_that_test() -> None:
    calls = [GuardNonFinite("skip"), NoWait()]
    with pytest.raises(RuntimeError, match="synchronizing"):
        toy_fit(toy_net(), toy_data(rows=ROWS), callbacks=calls, device="cuda", epochs=1)
