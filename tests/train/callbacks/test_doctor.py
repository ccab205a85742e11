"""The doctor's eye: it sees few steps, changes no bit of a run, and goes on where it was."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from netwright.core.errors import RunError
from netwright.inspection.inside.unit_activity import unit_activities
from netwright.train.callback import Callback
from netwright.train.callbacks.doctor import Doctor, shares_by_layer, watch_interval
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.run_setting_groups import Policy
from netwright.train.saving.checkpoint import load_checkpoint, save_checkpoint
from netwright.train.state import TrainState
from netwright.train.tasks import per_token
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.watching.layer_history import LayerHistory, read_layer_history
from netwright.train.watching.layer_norms import FEW
from netwright.train.watching.time_budget import Clock
from tests.repetition import for_each, slow_but
from tests.train.callbacks.test_non_finite import first_rows, spoil
from tests.train.token_data import KINDS, small_lstm, text_data
from tests.train.toy_runs import assert_same, copy_of, toy_data, toy_fit, toy_net, toy_trainer

LONG: dict[str, Any] = {"epochs": 7, "batch_size": 2}  # 70 steps


def watched(total: int) -> list[int]:
    """The steps, counted from 1, of a run of so many."""
    return [s + 1 for s in range(total) if s % watch_interval(s) == 0 or s == total - 1]


def test_the_first_steps_are_watched_then_ever_fewer_and_the_last() -> None:
    doctor = Doctor()
    toy_fit(toy_net(), toy_data(), callbacks=[doctor], **LONG)
    first = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65]
    assert doctor.seen.steps == [*first, 70] == watched(70)
    assert doctor.seen.layers == ("0", "3")
    assert [row.step for row in doctor.seen if row.dead] == [17, 70]
    assert (len(watched(2_000)), len(watched(1_000_000))) == (23, 41)


def test_units_are_looked_at_when_the_steps_are_16_times_as_many_and_at_the_end() -> None:
    doctor = Doctor()
    toy_fit(toy_net(), toy_data(), callbacks=[doctor], epochs=26, batch_size=2)
    assert [row.step for row in doctor.seen if row.saturated] == [17, 257, 260]


class Slow:
    """Clocks by which each step takes a second, and each look as long as told.

    Args:
        look: seconds of the work of a look at the layers, of which there are two parts.
    """

    def __init__(self, look: float) -> None:
        self.world, self.thread, self.look = 0.0, 0.0, look

    def clock(self) -> Clock:
        return Clock(now=lambda: self.world, work=self.work)

    def work(self) -> float:
        """Read at the start and the end of each part."""
        self.thread += self.look / 2
        return self.thread


class Seconds(Callback):
    """Lets a second pass with each step."""

    def __init__(self, time: Slow) -> None:
        self.time = time

    def on_step_end(self, state: TrainState) -> None:
        self.time.world += 1.0


def watched_with(look: float) -> list[int]:
    time = Slow(look)
    doctor = Doctor(clock=time.clock())
    toy_fit(toy_net(), toy_data(), callbacks=[doctor, Seconds(time)], **LONG)
    return doctor.seen.steps


def test_where_looks_are_quick_all_are_taken() -> None:
    assert watched_with(1e-3) == watched(70)


def test_where_they_are_slow_as_many_as_there_is_time_for() -> None:
    # The two of a curve, whatever they take; at second 12 it may have taken 0.24 s, not 0.27.
    assert watched_with(0.09) == [1, 2, 17, 25, 33, 49, 65, 70]
    assert watched_with(0.3) == [1, 2, 65]  # at second 48 it may have taken 0.78 s, not 0.9
    assert watched_with(10.0) == [1, 2]


@for_each(("an_update", "looks"), [(0.01, [17, 70]), (0.2, [70])])
def test_a_look_at_the_units_needs_as_much_time_as_an_update_unless_more_is_known(
    an_update: float, looks: list[int]
) -> None:
    time = Slow(1e-3)

    class Works(Callback):
        def on_step_end(self, state: TrainState) -> None:
            time.world += an_update
            time.thread += an_update

    doctor = Doctor(clock=time.clock())
    toy_fit(toy_net(), toy_data(), callbacks=[Works(), doctor], **LONG)
    assert [row.step for row in doctor.seen if row.dead] == looks


class Sum(nn.Module):
    """A first layer, a ReLU of a sum, and an activation that no layer comes before."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(2), nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        inner: Tensor = self.inner(x.sigmoid()).relu()
        outer: Tensor = self.norm(x).abs()
        return (inner - 100.0 * outer).relu()


def test_an_activation_belongs_to_the_layer_before_it_and_the_worst_counts() -> None:
    model = Sum()
    with torch.no_grad():
        model.inner.weight.zero_()
        model.inner.bias.copy_(torch.tensor([-1.0, 1.0]))
    found = unit_activities(model, torch.tensor([[9.0, 0.0], [0.0, 9.0]]))
    assert [units.activation.name for units in found] == ["sigmoid", "relu", "relu"]
    assert shares_by_layer(found, ["norm", "inner"]) == {
        "dead": (None, 1.0),
        "saturated": (0.5, None),
    }
    assert shares_by_layer(found, ["inner", "model"]) == {  # where the model has its own weights
        "dead": (0.5, 1.0),
        "saturated": (None, 0.5),
    }
    assert shares_by_layer([], ["inner"]) == {"dead": (None,), "saturated": (None,)}


class Reads(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the numbers that are read from the device one by one."""

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += func is torch.ops.aten._local_scalar_dense.default
        return func(*args, **(kwargs or {}))


def test_the_units_of_all_layers_are_read_at_once() -> None:
    """An accelerator that is waited for at every layer stands still most of the time."""
    model = Sum()
    with Reads() as reads:  # type: ignore[no-untyped-call]
        shares_by_layer(unit_activities(model, torch.ones(2, 2)), ["norm", "inner"])
    assert reads.count == 0


def test_of_a_large_vocabulary_units_are_looked_at_on_as_many_texts_as_have_few_logits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(per_token, "LARGE_VOCABULARY", KINDS)
    monkeypatch.setattr(per_token, "MOST_AT_ONCE", 3 * 4 * KINDS)
    data, rows = replace(text_data(), val=None), set[int]()
    model = small_lstm(data.spec)

    def note(module: nn.Module, given: tuple[Tensor, ...]) -> None:
        if not module.training:
            rows.add(len(given[0]))

    next(model.children()).register_forward_pre_hook(note)
    doctor, task = Doctor(clock=Slow(1e-3).clock()), LanguageModelling(KINDS)
    toy_fit(model, data, task=task, callbacks=[doctor], batch_size=9, epochs=1)
    assert rows == {FEW, 3}


def test_units_are_looked_at_in_the_precision_of_training() -> None:
    kinds = []

    class Spy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.outer = nn.Linear(3, 8), nn.Linear(8, 3)

        def forward(self, x: Tensor) -> Tensor:
            hidden: Tensor = self.inner(x).relu()
            if not self.training:
                kinds.append(hidden.dtype)
            outer: Tensor = self.outer(hidden)
            return outer

    toy_fit(
        Spy(),
        toy_data(val=0),
        callbacks=[Doctor(precision="bf16-mixed")],
        device="cpu",
        precision="bf16-mixed",
    )
    assert set(kinds) == {torch.bfloat16}


@pytest.mark.parametrize("optimizer", slow_but(["adam", "svrg"], ["adam", "sgd", "lbfgs", "svrg"]))
def test_a_run_is_the_same_bit_for_bit_with_and_without_it(optimizer: str) -> None:
    def end(*callbacks: Callback) -> list[Any]:
        net = toy_net(batch_norm=True, dropout=0.4)
        state = toy_fit(net, toy_data(), callbacks=callbacks, optimizer=optimizer)
        rows = [(row.step, row.name, row.value) for row in state.history]
        return [copy_of(net), state.optimizer.state_dict(), rows, torch.get_rng_state()]

    doctor = Doctor()
    assert_same(end(doctor), end())
    assert any(row.dead for row in doctor.seen)


def test_lengths_are_those_that_a_loop_by_hand_measures() -> None:
    doctor, net, by_hand = Doctor(), toy_net(), toy_net()
    data = toy_data(rows=8, val=0)
    toy_fit(net, data, callbacks=[doctor], optimizer="sgd", lr=0.1, batch_size=8, epochs=1)
    loss = nn.functional.cross_entropy(by_hand(data.train.inputs), data.train.targets)
    loss.backward()  # type: ignore[no-untyped-call]
    (row,) = doctor.seen
    first = [weight.grad.flatten() for weight in by_hand[0].parameters() if weight.grad is not None]
    gradient = torch.cat(first).norm()
    assert row.loss == pytest.approx(loss.item(), rel=1e-5)
    assert row.gradient[0] == pytest.approx(gradient.item(), rel=1e-5)
    assert row.update[0] == pytest.approx(0.1 * gradient.item(), rel=1e-4)
    after = torch.cat([weight.flatten() for weight in net[0].parameters()]).norm()
    assert row.weight[0] == pytest.approx(after.item(), rel=1e-5)


class StopAt(Callback):
    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, state: TrainState) -> None:
        if state.step == self.step:
            state.cut_short("stop")


class SaveAt(StopAt):
    """Saves where it stops: the generators are the run's own there."""

    def __init__(self, step: int, folder: Path, doctor: Doctor) -> None:
        super().__init__(step)
        self.folder, self.doctor = folder, doctor

    def on_step_end(self, state: TrainState) -> None:
        super().on_step_end(state)
        if state.stop_reason:
            save_checkpoint(self.folder, state, [self.doctor])


@pytest.mark.parametrize("step", [3, 33])
def test_a_run_that_is_taken_up_again_has_the_same_history(tmp_path: Path, step: int) -> None:
    saved, data = tmp_path / "saved", toy_data()

    def seen(*, stop: bool = False) -> str:
        doctor = Doctor(tmp_path / "layers.jsonl")
        calls = [doctor, *([SaveAt(step, saved, doctor)] if stop else [])]
        trainer = toy_trainer(data, callbacks=calls, **LONG)
        state = trainer.start(toy_net(dropout=0.4), data)
        if saved.exists():
            load_checkpoint(saved, state, [doctor])
        trainer.fit(state, data)
        assert (tmp_path / "layers.jsonl").read_text() == doctor.seen.to_text()
        return doctor.seen.to_text()

    whole, stopped = seen(), seen(stop=True)
    assert whole.startswith(stopped)
    assert len(stopped) < len(whole)
    assert seen() == whole


def test_one_that_is_off_keeps_what_was_seen_and_watches_no_more(tmp_path: Path) -> None:
    doctor = Doctor()
    state = toy_fit(toy_net(), toy_data(), callbacks=[doctor, StopAt(5)])
    save_checkpoint(tmp_path / "saved", state, [doctor])
    off = Doctor(tmp_path / "layers.jsonl", is_on=False)
    trainer = toy_trainer(toy_data(), callbacks=[off])
    state = trainer.start(toy_net(), toy_data())
    load_checkpoint(tmp_path / "saved", state, [off])
    trainer.fit(state, toy_data())
    assert off.seen.steps == [1, 2, 3, 4, 5]
    assert read_layer_history(tmp_path / "layers.jsonl").steps == [1, 2, 3, 4, 5]


def test_one_that_was_off_from_the_first_leaves_no_file_and_may_be_switched_on(
    tmp_path: Path,
) -> None:
    off = Doctor(tmp_path / "layers.jsonl", is_on=False)
    state = toy_fit(toy_net(), toy_data(), callbacks=[off, StopAt(5)])
    assert not (tmp_path / "layers.jsonl").exists()
    save_checkpoint(tmp_path / "saved", state, [off])
    doctor = Doctor()
    trainer = toy_trainer(toy_data(), callbacks=[doctor])
    state = trainer.start(toy_net(), toy_data())
    load_checkpoint(tmp_path / "saved", state, [doctor])
    trainer.fit(state, toy_data())
    assert doctor.seen.steps[:2] == [7, 9]


def test_every_epoch_is_on_disk_when_it_is_over(tmp_path: Path) -> None:
    path = tmp_path / "layers.jsonl"
    doctor = Doctor(path)

    class Look(Callback):
        def on_epoch_end(self, state: TrainState) -> None:
            assert path.read_text() == doctor.seen.to_text()

    toy_fit(toy_net(), toy_data(), callbacks=[doctor, Look()])
    assert read_layer_history(path).steps == doctor.seen.steps
    toy_fit(toy_net(), toy_data(), callbacks=[doctor], epochs=1)  # one object serves several runs
    assert read_layer_history(path).steps == [1, 2, 3, 4, 5]


def test_an_update_that_is_left_out_leaves_no_row() -> None:
    row = first_rows(toy_data(), 0, [2])[0]

    def seen(policy: Policy) -> LayerHistory:
        doctor, data = Doctor(), spoil(toy_data(), "inputs", row, float("nan"))
        calls = [GuardNonFinite(policy, [doctor]), doctor]
        assert toy_fit(toy_net(), data, callbacks=calls, epochs=1).step == 4
        return doctor.seen

    assert seen("skip").layers == ("0", "3")
    assert seen("skip").steps == [1, 2, 3, 4]
    assert seen("roll-back").to_text() == seen("skip").to_text()


def test_an_overflow_of_float16_leaves_no_row() -> None:
    class Overflow(Callback):
        def on_fit_start(self, state: TrainState) -> None:
            weight = next(state.model.parameters())
            weight.register_hook(  # type: ignore[no-untyped-call]
                lambda grad: grad * torch.inf if state.samples == 8 else grad
            )

    doctor = Doctor()
    state = toy_fit(
        toy_net(), toy_data(), callbacks=[Overflow(), doctor], precision="fp16-mixed", epochs=1
    )
    assert (state.step, doctor.seen.steps) == (4, [1, 2, 3, 4])


class Blow(nn.Module):
    """The logarithm of a number that is 0."""

    def forward(self, x: Tensor) -> Tensor:
        return x + (x * 0).sum().log().clamp(max=0) * 0


@pytest.mark.parametrize(
    ("spoilt", "sentence", "see"),
    [
        (True, "the inputs of row 13 are not finite", "table"),
        (False, "the output of layer '1' is not finite", "step-size"),
    ],
)
def test_the_origin_of_nan_is_told(
    spoilt: bool, sentence: str, see: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = spoil(toy_data(), "inputs", 13, float("nan")) if spoilt else toy_data()
    net = toy_net() if spoilt else nn.Sequential(nn.Linear(3, 3), Blow())
    doctor = Doctor()
    with pytest.raises(RunError):
        toy_fit(net, data, callbacks=[GuardNonFinite(), doctor])
    (finding,) = doctor.findings
    assert (finding.illness, finding.see) == ("not-finite", see)
    assert finding.sentence.endswith(sentence)
    assert f"doctor: {finding}" in capsys.readouterr().err


def test_what_was_seen_in_the_epoch_that_an_error_ends_is_on_disk(tmp_path: Path) -> None:
    class Fail(StopAt):
        def on_step_end(self, state: TrainState) -> None:
            if state.step == self.step:
                raise RunError("the disk is full")

    doctor = Doctor(tmp_path / "layers.jsonl")
    with pytest.raises(RunError):
        toy_fit(toy_net(), toy_data(), callbacks=[doctor, Fail(4)])
    assert read_layer_history(tmp_path / "layers.jsonl").steps == [1, 2, 3, 4]


def test_a_run_that_starts_over_leaves_no_rows_of_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "layers.jsonl"
    path.write_text("of before")
    with pytest.raises(RunError):
        toy_fit(
            toy_net(),
            spoil(toy_data(), "inputs", first_rows(toy_data(), 0, [0])[0], float("nan")),
            callbacks=[GuardNonFinite(), Doctor(path, quiet=True)],
        )
    assert not path.exists()


class HeadFirst(nn.Module):
    """The layer that runs last is declared first."""

    def __init__(self) -> None:
        super().__init__()
        self.head, self.body = nn.Linear(4, 3), nn.Linear(3, 4)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.head(self.body(x).relu())
        return y


def test_layers_stand_in_the_order_in_which_they_run() -> None:
    doctor = Doctor()
    toy_fit(HeadFirst(), toy_data(), callbacks=[doctor])
    assert doctor.seen.layers == ("body", "head")
    (last,) = [row for row in doctor.seen if row.dead][-1:]
    assert (last.dead[0] is not None, last.dead[1]) == (True, None)


def test_of_other_errors_it_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    class Fail(Callback):
        def on_step_end(self, state: TrainState) -> None:
            raise RunError("the disk is full")

    doctor = Doctor()
    with pytest.raises(RunError, match="the disk is full"):
        toy_fit(toy_net(), toy_data(), callbacks=[doctor, Fail()])
    assert doctor.findings == []
    assert capsys.readouterr().err == ""


def test_a_quiet_one_tells_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    doctor = Doctor(quiet=True)
    data = spoil(toy_data(), "inputs", 13, float("nan"))
    with pytest.raises(RunError):
        toy_fit(toy_net(), data, callbacks=[GuardNonFinite(), doctor])
    assert len(doctor.findings) == 1
    assert capsys.readouterr().err == ""


def test_shares_are_rounded_to_a_hundredth_of_a_percent() -> None:
    layer = nn.Linear(1, 3)
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.copy_(torch.tensor([-1.0, 1.0, 1.0]))
    found = unit_activities(nn.Sequential(layer, nn.ReLU()), torch.ones(2, 1))
    assert shares_by_layer(found, ["0"])["dead"] == (0.3333,)
