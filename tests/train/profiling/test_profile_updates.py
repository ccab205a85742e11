"""A run with a profile is the same run, bit for bit, and its profile tells of its own updates."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from netwright.core.errors import RunError
from netwright.train.callback import Callback
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.callbacks.step_rows import StepRows
from netwright.train.profiling import profile_updates as file
from netwright.train.profiling import seen_updates, watched_operations
from netwright.train.profiling.hardware_rates import HardwareRates
from netwright.train.profiling.profile_file import FILE, read_profile
from netwright.train.profiling.profile_updates import Plan, ProfileUpdates
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState, no_lap
from netwright.train.tasks.task import Task
from netwright.train.watching.history import without_clock
from tests.train.toy_runs import SHORT, assert_same, copy_of, toy_data, toy_fit, toy_net, toy_start

UPDATES = 15  # of a toy run: 3 epochs of 5
LBFGS = {"optimizer": "lbfgs", "optimizer_options": {"max_iter": 2}}
SMALL = Plan(warm=2, plain=4, by_part=3, watched=2)
CONFIG = TrainConfig(**SHORT)


def profiling(folder: Path, **settings: Any) -> ProfileUpdates:
    return ProfileUpdates(folder / FILE, TrainConfig(**{**SHORT, **settings}))


@pytest.fixture(autouse=True)
def known_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = HardwareRates(1e12, 1e12)
    monkeypatch.setattr(seen_updates, "hardware_rates", lambda device, kind, seen: rates)


def run(profile: ProfileUpdates | None, **settings: Any) -> TrainState:
    """A toy run with a guard, rows, batch norm and dropout."""
    extra = [] if profile is None else [profile]
    callbacks = [GuardNonFinite(), *extra, StepRows(1)]
    data = toy_data(rows=18)  # the last batch of an epoch is smaller
    return toy_fit(toy_net(batch_norm=True, dropout=0.3), data, callbacks=callbacks, **settings)


@pytest.mark.parametrize(
    "settings",
    [{}, {"accumulate": 2}, LBFGS, {"eval_every": 2}, {"precision": "bf16-mixed"}],
    ids=["plain", "accumulate", "closure", "evaluations", "mixed"],
)
def test_weights_draws_and_rows_are_the_same_with_and_without(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    profile = profiling(tmp_path, **settings)
    ended = []
    for one in (profile, None):
        torch.manual_seed(0)
        state = run(one, **settings)
        rows = [without_clock(vars(row)) for row in state.history]
        ended.append((copy_of(state.model), state.optimizer.state_dict(), rows, torch.rand(3)))
    assert_same(*ended)
    assert read_profile(tmp_path / FILE) is not None


def test_the_profile_is_of_the_runs_own_updates(tmp_path: Path) -> None:
    state = run(ProfileUpdates(tmp_path / FILE, CONFIG, plan=SMALL))
    profile = read_profile(tmp_path / FILE)
    assert profile is not None
    assert (profile.unit, profile.amount, profile.updates) == ("samples", 4.0, SMALL.by_part)
    assert not profile.is_graph
    assert profile.seconds > 0
    assert [part.name for part in profile.parts] == [
        *("data", "forward", "backward", "guard", "optimizer", "measures", "callbacks"),
    ]
    assert all(part.seconds > 0 for part in profile.parts)
    assert any(operation.name == "addmm" for operation in profile.operations)
    flops = 2 * 4 * (3 * 5 + 5 * 3)  # of the batch of 4 rows that was looked at
    assert [part.flops for part in profile.parts[1:3]] == [flops, flops + 2 * 4 * 5 * 3]
    weights = 4 * sum(weight.numel() for weight in state.model.parameters())
    memory = {held.kind: held.bytes for held in profile.memory}
    assert memory["weights"] == memory["gradients"] == weights
    assert state.lap is no_lap


def test_batches_of_an_update_are_counted_together(tmp_path: Path) -> None:
    run(profiling(tmp_path, accumulate=2), accumulate=2, epochs=5)
    profile = read_profile(tmp_path / FILE)
    assert profile is not None
    assert profile.amount == 8.0
    assert profile.parts[1].flops % (2 * 2 * (3 * 5 + 5 * 3)) == 0


class Clock:
    """A clock that each look moves on by a second, and measuring by a hundred."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


class Measure(Callback):
    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def on_epoch_end(self, state: TrainState) -> None:
        self.clock.now += 100.0

    def on_evaluation(self, state: TrainState) -> None:
        self.clock.now += 100.0


def test_measuring_and_the_time_between_passes_are_no_part_of_an_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr("netwright.train.profiling.laps.time.perf_counter", clock)
    profile = ProfileUpdates(tmp_path / FILE, CONFIG, plan=Plan(2, 6, 6, 1))
    callbacks = [Measure(clock), GuardNonFinite(), profile]
    toy_fit(toy_net(), toy_data(), callbacks=callbacks, eval_every=2)
    assert all(update["update"] <= 2 for update in profile.plain.read())
    assert len(profile.by_part.read()) == 6
    assert all(seconds <= 4 for update in profile.by_part.read() for seconds in update.values())


def test_updates_that_are_looked_into_run_kernel_by_kernel_and_no_others(tmp_path: Path) -> None:
    profile, asked, timed = ProfileUpdates(tmp_path / FILE, CONFIG, plan=SMALL), [], []

    class Ask(Callback):
        def on_batch_start(self, state: TrainState) -> None:
            asked.append(profile.part_in_update(state))
            timed.append(state.lap is not no_lap)

    toy_fit(toy_net(), toy_data(), callbacks=[profile, Ask()])
    looked_into = SMALL.by_part + SMALL.watched
    plain = SMALL.warm + SMALL.plain
    wanted = ["none"] * plain + ["host"] * looked_into + ["none"] * (UPDATES - plain - looked_into)
    assert asked == wanted
    assert timed == [plain <= update < plain + SMALL.by_part for update in range(UPDATES)]


@pytest.mark.parametrize(
    ("rows", "settings", "counted"),
    [
        (20, {}, 1),  # a pass ends after the first of the two that are watched
        (16, {}, 2),
        (4, {"epochs": 12}, 1),  # each update is a pass
        (44, {"epochs": 1, "eval_every": 1}, 1),
        (44, {"epochs": 1, "eval_every": 9}, 2),  # measured just before the first
        (48, {"epochs": None, "max_steps": 11}, 2),  # measured right after the last
    ],
)
def test_operations_of_measuring_are_no_part_of_an_update(
    rows: int,
    settings: dict[str, Any],
    counted: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watched_operations, "MOST", 1000)
    profile = ProfileUpdates(tmp_path / FILE, CONFIG, plan=SMALL)
    toy_fit(toy_net(), toy_data(rows=rows), callbacks=[profile], **settings)
    seen = read_profile(tmp_path / FILE)
    assert seen is not None
    calls = {operation.name: operation.calls for operation in seen.operations}
    assert calls["addmm"] == 2.0  # the net has two layers
    assert sum(SMALL) - profile.watched_from == counted


@pytest.mark.parametrize(("without", "is_graph"), [((4,), True), ((3, 4), False)])
def test_of_updates_by_a_graph_only_those_are_timed(
    without: tuple[int, ...], is_graph: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The updates 3 to 6 take 1, 51, 3 and 5 seconds."""
    clock = Clock()
    monkeypatch.setattr("netwright.train.profiling.laps.time.perf_counter", clock)

    class Graph(Callback):
        def on_step_end(self, state: TrainState) -> None:
            state.by_graph += state.step not in without
            clock.now += {4: 50.0, 5: 2.0, 6: 4.0}.get(state.step, 0.0)

    toy_fit(
        toy_net(),
        toy_data(),
        callbacks=[Graph(), ProfileUpdates(tmp_path / FILE, CONFIG, plan=SMALL)],
    )
    profile = read_profile(tmp_path / FILE)
    assert profile is not None
    assert (profile.is_graph, profile.seconds) == (is_graph, 3.0 if is_graph else 4.0)


@pytest.mark.parametrize(
    ("updates", "wanted"),
    [(1000, Plan()), (57, Plan()), (56, (23, 19, 9, 2)), (10, (4, 3, 1, 1)), (4, (1, 1, 1, 1))],
)
def test_a_short_run_has_a_short_profile(updates: int, wanted: tuple[int, ...]) -> None:
    assert Plan().fitted(updates) == wanted
    assert sum(Plan().fitted(updates)) <= updates


def test_a_run_that_is_too_short_says_so(tmp_path: Path) -> None:
    state = toy_fit(toy_net(), toy_data(rows=12), epochs=1, callbacks=[profiling(tmp_path)])
    assert not (tmp_path / FILE).exists()
    told = "there is no profile: the run made 3 of the 4 updates that a profile takes"
    assert state.notes == [told]


def test_work_is_that_of_the_runs_own_forward_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for compiling: of what is compiled nobody can count the operations."""
    asked: list[tuple[bool, bool]] = []

    def spy(model: nn.Module, task: Task, config: TrainConfig) -> nn.Module:
        asked.append((config.compile, config.output_noise > 0))
        return model

    monkeypatch.setattr(file, "training_forward", spy)
    config = TrainConfig(**SHORT, compile=True, output_noise=0.1)
    run(ProfileUpdates(tmp_path / FILE, config))
    assert asked == [(False, True)]


def test_a_step_of_ones_own_is_timed_and_not_counted(tmp_path: Path) -> None:
    run(ProfileUpdates(tmp_path / FILE, CONFIG, is_counted=False))
    profile = read_profile(tmp_path / FILE)
    assert profile is not None
    assert profile.flops == 0
    assert profile.not_counted == "the training step is one of your own"


def test_what_cannot_be_counted_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise TypeError("cannot be copied\nat all")

    monkeypatch.setattr(file, "measure_work", fail)
    run(profiling(tmp_path))
    profile = read_profile(tmp_path / FILE)
    assert profile is not None
    assert profile.not_counted == "cannot be copied"


@pytest.mark.parametrize(
    ("error", "told"),
    [(torch.OutOfMemoryError("out of memory\nTried"), "out of memory"), (KeyError(), "KeyError")],
)
def test_rates_that_cannot_be_measured_do_not_end_the_run(
    error: Exception, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(seen_updates, "hardware_rates", fail)
    state = run(profiling(tmp_path))
    assert state.step == UPDATES
    assert state.notes == [f"there is no profile: {told}"]
    assert not (tmp_path / FILE).exists()


def test_an_error_ends_torchs_profiler_too(tmp_path: Path) -> None:
    class Fail(Callback):
        def on_step_end(self, state: TrainState) -> None:
            if state.step == 10:
                raise RunError("enough")

    profile = ProfileUpdates(tmp_path / FILE, CONFIG, plan=SMALL)
    with pytest.raises(RunError, match="enough"):
        toy_fit(toy_net(), toy_data(), callbacks=[profile, Fail()])
    assert profile.operations is None
    assert not (tmp_path / FILE).exists()
    run(profiling(tmp_path))  # which torch refuses while another is under way


def test_before_a_run_nothing_is_timed(tmp_path: Path) -> None:
    profile, state = profiling(tmp_path), toy_start()
    profile.on_fit_start(state)
    profile.on_before_update(state)
    profile.on_batch_end(state)
    assert state.lap is no_lap


needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


class NoWait(Callback):
    """Lets a wait in the updates between warming up and torch's profiler be an error."""

    def __init__(self, profile: ProfileUpdates) -> None:
        self.profile = profile

    def on_step_end(self, state: TrainState) -> None:
        plan = self.profile.plan
        is_timed = plan.warm <= self.profile.made < plan.until_watched - 1
        torch.cuda.set_sync_debug_mode("error" if is_timed else "default")

    def on_abort(self, state: TrainState) -> None:
        torch.cuda.set_sync_debug_mode("default")


@needs_cuda
@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
@pytest.mark.parametrize("capture", ["on", "off"])
def test_on_cuda_nothing_waits_and_every_bit_is_the_same(capture: str, tmp_path: Path) -> None:
    profile = ProfileUpdates(tmp_path / FILE, CONFIG, plan=SMALL._replace(warm=6))
    ended = []
    for extra in ([profile, NoWait(profile)], []):
        state = toy_fit(
            toy_net(batch_norm=True, dropout=0.3),
            toy_data(rows=120),
            callbacks=[GuardNonFinite(), *extra],
            device="cuda",
            epochs=1,
            capture=capture,
        )
        ended.append(copy_of(state.model))
    assert_same(*ended)
    seen = read_profile(tmp_path / FILE)
    assert seen is not None
    assert seen.is_graph == (capture == "on")
    assert seen.busy is not None
    assert 0 < seen.busy < seen.by_parts
    assert sum(held.bytes for held in seen.memory) <= seen.peak
    assert all(part.seconds > 0 for part in seen.parts)
