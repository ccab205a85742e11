"""One number for all that is not finite; the guard's own tests run with it, too."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.data.loading.loader import BatchLoader
from netwright.optimizers.lion import Lion
from netwright.train.callback import Callback
from netwright.train.callbacks.doctor import Doctor
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.callbacks.keep_path import KeepPath
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.callbacks.step_limit import StepLimit
from netwright.train.callbacks.step_rows import StepRows
from netwright.train.engines.sharded import ShardedEngine
from netwright.train.ranks import ALONE, Ranks
from netwright.train.run_setting_groups import Policy
from netwright.train.state import TrainState
from netwright.train.updates import capture_rules, finite_check
from netwright.train.updates.device_rates import reason_without
from netwright.train.updates.finite_check import LAG, FiniteCheck, leaves_out, reason_for_host
from netwright.train.watching.history import without_clock
from tests.repetition import for_each, slow_but
from tests.train.each_task import EACH_TASK
from tests.train.toy_runs import (
    assert_same,
    copy_of,
    toy_data,
    toy_fit,
    toy_net,
    toy_start,
    toy_trainer,
)

NAN, INF = float("nan"), float("inf")


@for_each("value", [NAN, INF, -INF])
@for_each("place", ["loss", "gradient"])
def test_the_number_is_1_from_the_first_bad_value_on(value: float, place: str) -> None:
    check = FiniteCheck(toy_start(), [])
    loss, grads = torch.tensor(2.0), [torch.ones(3), torch.full((2, 2), 1e30)]
    check.look(loss, grads)
    assert check.bad == 0
    assert torch.equal(grads[1], torch.full((2, 2), 1e30))  # their squares are infinite
    if place == "loss":
        check.look(torch.tensor(value), grads)
    else:
        check.look(loss, [torch.tensor([1.0, value]), torch.ones(1)])
    assert check.bad == 1
    check.look(loss, grads)
    assert check.bad == 1


def test_a_batch_is_known_when_it_is_old_enough() -> None:
    state = toy_start()
    check = FiniteCheck(state, [])
    for number in range(LAG + 1):
        check.look(torch.tensor(NAN if number == 1 else 1.0), [])
        state.position = number
        check.note(state)
    assert [(moment.position, bad) for moment, bad in check.known()] == [(0, False)]
    check.note(state)
    assert [(moment.position, bad) for moment, bad in check.known()] == [(1, True)]


def test_all_batches_are_known_where_that_is_asked_for() -> None:
    state = toy_start()
    check = FiniteCheck(state, [])
    check.note(state)
    assert [bad for _, bad in check.all_known(state)] == [False]
    check.look(torch.tensor(NAN), [])
    state.position = 1
    check.note(state)
    assert list(check.known()) == []
    first, *_ = check.all_known(state)
    assert (first[0].position, first[1]) == (1, True)


def test_the_batch_at_hand_is_known_before_it_is_noted() -> None:
    state = toy_start()
    check = FiniteCheck(state, [])
    check.look(torch.tensor(NAN), [])
    state.position = 3
    ((moment, bad),) = check.all_known(state)
    assert (moment.position, bad) == (3, True)


def test_when_the_bad_batch_is_known_all_is_good_again() -> None:
    state = toy_start()
    check = FiniteCheck(state, [])
    check.look(torch.tensor(NAN), [])
    check.note(state)
    check.clear()
    assert list(check.all_known(state)) == []
    check.look(torch.tensor(1.0), [])
    assert check.bad == 0


def test_what_a_buffer_holds_when_a_pass_begins_is_what_it_goes_back_to() -> None:
    state, buffer = toy_start(), torch.zeros(2)
    check = FiniteCheck(state, [buffer])
    buffer.fill_(1.0)
    check.begin(state)
    buffer.fill_(NAN)
    check.look(torch.tensor(NAN), [])
    assert buffer.tolist() == [1.0, 1.0]


def on_device(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> TrainState:
    """A run of which nothing speaks for the host, but for what is set."""
    monkeypatch.setattr(finite_check, "WAITED_FOR", ("cpu",))
    state = toy_start(**{"optimizer": "adam", **settings})
    state.redo, state.may_repeat = lambda batch: None, True
    return state


def test_it_is_for_devices_that_compute_while_the_host_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = toy_start(optimizer="adam")
    state.redo = lambda batch: None
    assert reason_for_host(state) == "it needs CUDA"
    assert reason_for_host(on_device(monkeypatch)) == ""


@pytest.mark.parametrize("policy", ["stop", "skip", "roll-back"])
def test_what_is_taken_again_must_not_be_seen_by_a_caller(
    monkeypatch: pytest.MonkeyPatch, policy: Policy
) -> None:
    state = on_device(monkeypatch)
    assert reason_for_host(state, policy) == ""
    state.may_repeat = False
    assert policy in reason_for_host(state, policy) or policy == "stop"


def halves() -> torch.optim.Optimizer:
    return torch.optim.SGD(nn.Linear(2, 2, dtype=torch.bfloat16).parameters(), fused=True)


def own_rate() -> torch.optim.Optimizer:
    return torch.optim.Adam(nn.Linear(2, 2).parameters(), lr=torch.tensor(0.1), fused=True)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"scaler": torch.amp.GradScaler("cpu")}, "fp16-mixed"),
        ({"redo": None}, "accumulate"),
        ({"ranks": Ranks(0, 2)}, "several processes"),
        ({"optimizer": torch.optim.Adam(nn.Linear(2, 2).parameters(), fused=False)}, "Adam is not"),
        ({"optimizer": torch.optim.RMSprop(nn.Linear(2, 2).parameters())}, "RMSprop is not"),
        ({"optimizer": halves()}, "not float32"),
        ({"optimizer": own_rate()}, "a tensor of your own"),
    ],
)
def test_the_reason_for_the_host_is_told(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], words: str
) -> None:
    state = on_device(monkeypatch)
    for name, value in changes.items():
        setattr(state, name, value)
    assert words in reason_for_host(state)


def test_an_optimizer_of_the_callers_own_is_told_by_the_host() -> None:
    class Own(Lion):
        steps_on_device = False  # it may keep what is no tensor, or replace one

    assert leaves_out(Lion(nn.Linear(2, 2).parameters()))
    assert not leaves_out(Own(nn.Linear(2, 2).parameters()))


def whole_run(folder: Path, bad: list[int], policy: Policy, **settings: Any) -> dict[str, Any]:
    """All that a run leaves, with what is kept on its way; some rows are not finite."""
    doctor, path = Doctor(), KeepPath(folder / "path.safetensors", 7)
    watched: list[Callback] = [StepRows(2), path, EarlyStopping(restore_best=False), doctor]
    calls = [GuardNonFinite(policy, watched), *watched, StepLimit(17)]
    data = toy_data(rows=20)
    data.train.inputs[bad] = NAN
    given = {"batch_size": 2, "schedule": "cosine", "on_non_finite": policy, **settings}
    trainer = toy_trainer(data, callbacks=calls, **given)
    state = trainer.start(toy_net(batch_norm=True, dropout=0.4), data)
    trainer.fit(state, data)
    return {
        "state": {
            name: part for name, part in state.state_dict().items() if name not in NOT_COMPARED
        },
        "history": [repr(without_clock(vars(row))) for row in state.history],
        "layers": doctor.seen.to_text(),
        "path": path.path,
        "spacing": path.spacing,
        "stopped": state.stop_reason,
    }


PLACES = slow_but(
    [(2,), (9,), (0, 1), (2, 3, 7)],
    [(0,), (1,), (2,), (4,), (8,), (9,), (0, 1), (2, 3, 7), (5, 9), tuple(range(9))],
)
NOT_COMPARED = {"elapsed", "history", "random"}  # the last are of the caller again


@pytest.mark.parametrize("policy", ["skip", "roll-back"])
@pytest.mark.parametrize("places", PLACES, ids=str)
def test_what_is_read_later_leaves_the_same_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: Policy, places: tuple[int, ...]
) -> None:
    order = BatchLoader(toy_data(rows=20).train, 2).order(0)
    bad = order[[2 * place for place in places]].tolist()
    settings: dict[str, Any] = {"optimizer": "momentum" if len(places) > 1 else "adam"}
    wanted = whole_run(tmp_path, bad, policy, **settings)
    monkeypatch.setattr(finite_check, "WAITED_FOR", ("cpu",))
    assert_same(whole_run(tmp_path, bad, policy, **settings), wanted)


@pytest.mark.parametrize("policy", ["skip", "roll-back"])
@pytest.mark.parametrize("optimizer", ["lion", "muon", "heavy-ball"])
def test_optimizers_of_our_own_leave_the_same_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: Policy, optimizer: str
) -> None:
    given: dict[str, Any] = {"optimizer": optimizer, "weight_decay": 0.1}
    wanted = whole_run(tmp_path, [3, 8], policy, **given)
    monkeypatch.setattr(finite_check, "WAITED_FOR", ("cpu",))
    assert_same(whole_run(tmp_path, [3, 8], policy, **given), wanted)
    monkeypatch.setattr(finite_check, "MOST_HELD", 10)  # too large a model: the host is waited for
    assert_same(whole_run(tmp_path, [3, 8], policy, **given), wanted)


@pytest.mark.parametrize(
    "settings",
    [{"max_steps": 13, "epochs": None}, {"eval_every": 4}, {"average": "exponential"}],
    ids=str,
)
def test_so_does_one_of_so_many_updates_one_measured_on_the_way_and_one_with_an_average(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    wanted = whole_run(tmp_path, [3], "skip", **settings)
    monkeypatch.setattr(finite_check, "WAITED_FOR", ("cpu",))
    assert_same(whole_run(tmp_path, [3], "skip", **settings), wanted)


def test_the_host_is_asked_for_shards_that_it_steps_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = on_device(monkeypatch)
    engine = ShardedEngine(ALONE)
    engine.kernel("auto", type(state.optimizer))
    state.engine = engine
    assert reason_for_host(state) == ""
    engine.offload = True
    assert "a step is the host's work" in reason_for_host(state)
    state.engine = ShardedEngine(ALONE)  # which knows nothing of this optimizer
    assert "a step is the host's work" in reason_for_host(state)
    assert reason_without(state) == "the weights are sharded"


@pytest.mark.parametrize("kind", slow_but(["class", "masks"], EACH_TASK))
def test_each_task_can_be_read_later(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = []
    for devices in (("cuda",), ("cpu",)):
        monkeypatch.setattr(finite_check, "WAITED_FOR", devices)
        model, data, task = EACH_TASK[kind]()
        toy_fit(model, data, task=task, callbacks=[GuardNonFinite("skip")], epochs=1)
        ends.append(copy_of(model))
    assert_same(*ends)


class CountsPasses(nn.Sequential):
    """A model of a caller's own, with a number that torch does not know."""

    passes = 0

    def forward(self, x: Tensor) -> Tensor:
        self.passes += self.training
        out: Tensor = super().forward(x)  # type: ignore[no-untyped-call]
        return out


@pytest.mark.parametrize("policy", ["skip", "roll-back"])
def test_a_model_of_the_callers_own_sees_no_batch_more_often(
    monkeypatch: pytest.MonkeyPatch, policy: Policy
) -> None:
    data, passes = toy_data(rows=20), []
    data.train.inputs[3] = NAN
    for devices in (("cuda",), ("cpu",)):
        monkeypatch.setattr(finite_check, "WAITED_FOR", devices)
        model = CountsPasses(*toy_net())
        guard = GuardNonFinite(policy)
        toy_fit(model, data, callbacks=[guard], batch_size=2, epochs=2, optimizer="adam")
        passes.append(model.passes)
    assert passes[0] == passes[1]


def test_moments_of_a_run_that_goes_back_to_its_beginning_are_begun_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[int] = []

    class Guard(GuardNonFinite):
        def on_epoch_start(self, state: TrainState) -> None:
            super().on_epoch_start(state)
            begun.append(len(self.begun))

    monkeypatch.setattr(finite_check, "WAITED_FOR", ("cpu",))
    monkeypatch.setattr(capture_rules, "KNOWN", (*capture_rules.KNOWN, "tests."))
    data = toy_data()
    data.train.inputs[BatchLoader(data.train, 4).order(0)[8]] = NAN
    toy_fit(toy_net(), data, callbacks=[Guard("roll-back")], epochs=1)
    assert begun == [0, 0]
