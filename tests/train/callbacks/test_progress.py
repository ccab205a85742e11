"""What is shown: plain lines without a terminal, nothing when quiet, a bar that goes away."""

import re
from typing import Any

import pytest
import torch

from netwright.data.loading.loader import Batch
from netwright.train.callback import Callback
from netwright.train.callbacks.progress import LINE_EVERY, Progress
from netwright.train.callbacks.step_limit import StepLimit
from netwright.train.callbacks.step_rows import StepRows
from netwright.train.state import TrainState
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.updates.host_copy import HostCopy
from tests.train.toy_runs import toy_data, toy_fit, toy_net, toy_start


class FakeBar:
    """A live bar that notes what it is told; every second time it is due to be drawn."""

    def __init__(self, total: int | None, *, quiet: bool = False, after: float = 0.0) -> None:
        self.total, self.after, self.closed = total, after, 0
        self.moves: list[tuple[int, str]] = []
        self.lines: list[str] = []
        self.asked, self.is_live = 0, True

    @property
    def is_due(self) -> bool:
        self.asked += 1
        return self.asked % 2 == 1

    def move(self, step: int, text: str) -> None:
        self.moves.append((step, text))

    def line(self, text: str) -> None:
        self.lines.append(text)

    def close(self) -> None:
        self.closed += 1


class Stop(Callback):
    def on_step_end(self, state: TrainState) -> None:
        if state.step == 7:
            state.stop_reason = "enough"


def test_without_a_terminal_each_epoch_is_one_plain_line(capsys: Any) -> None:
    toy_fit(toy_net(), toy_data(), epochs=2, callbacks=[Progress()])
    out, err = capsys.readouterr()
    number = r"\d\.\d{4}"
    pair = rf"train {number}, val {number}"
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == 2
    for epoch, line in enumerate(lines, start=1):
        speed = r"[\d,]+ samples/s  \d+\.\ds"
        assert re.fullmatch(rf"epoch   {epoch}/2  loss: {pair}  accuracy: {pair}  {speed}", line)


def test_without_validation_data_only_training_is_shown(capsys: Any) -> None:
    toy_fit(toy_net(), toy_data(val=0), epochs=1, callbacks=[Progress()])
    assert re.search(r"loss: train \d\.\d{4}  accuracy: train", capsys.readouterr().err)


def test_quiet_prints_nothing(capsys: Any) -> None:
    toy_fit(toy_net(), toy_data(), callbacks=[Progress(quiet=True), Stop()])
    assert tuple(capsys.readouterr()) == ("", "")


def test_an_early_end_is_told_with_its_reason(capsys: Any) -> None:
    toy_fit(toy_net(), toy_data(), callbacks=[Progress(), Stop()])
    assert capsys.readouterr().err.splitlines()[-1] == "stopped after 7 steps: enough"


def test_one_step_is_one_step(capsys: Any) -> None:
    toy_fit(toy_net(), toy_data(), callbacks=[Progress(), StepLimit(1)])
    assert capsys.readouterr().err.endswith("stopped after 1 step: the step limit of 1\n")


def test_numbers_shown_are_the_newest_of_the_history(capsys: Any) -> None:
    state = toy_fit(toy_net(), toy_data(), callbacks=[Progress()])
    last = capsys.readouterr().err.splitlines()[-1]
    latest = state.history.latest
    assert f"train {latest('train/loss'):.4f}, val {latest('val/loss'):.4f}" in last
    assert f"train {latest('train/accuracy'):.4f}, val {latest('val/accuracy'):.4f}" in last


def test_a_live_bar_moves_when_it_is_due_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.train.callbacks.progress.Bar", FakeBar)
    progress = Progress()
    toy_fit(toy_net(), toy_data(), callbacks=[progress])
    bar: Any = progress.bar
    assert bar.total == 15  # 3 epochs of 5 steps
    assert bar.after == 2.0  # a short run has none
    assert bar.closed == 1
    assert [step for step, _ in bar.moves] == [1, 3, 5, 7, 9, 11, 13, 15]
    assert re.fullmatch(r"epoch 1/3  loss \d\.\d{4}  lr 0\.001  [\d,]+ samples/s", bar.moves[0][1])


def test_a_loss_that_is_on_its_way_is_shown_when_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Late(HostCopy):
        asked = 0

        @property
        def is_here(self) -> bool:
            Late.asked += 1
            return Late.asked % 3 == 0

    class Losses(Callback):
        def __init__(self) -> None:
            self.seen: list[float] = []

        def on_step_end(self, state: TrainState) -> None:
            self.seen.append(state.loss.item())

    monkeypatch.setattr("netwright.train.callbacks.progress.Bar", FakeBar)
    monkeypatch.setattr("netwright.train.callbacks.progress.HostCopy", Late)
    progress, losses = Progress(), Losses()
    toy_fit(toy_net(), toy_data(), callbacks=[progress, losses])
    bar: Any = progress.bar
    assert [step for step, _ in bar.moves] == [5, 11]  # asked for after steps 1 and 7
    assert f"loss {losses.seen[0]:.4f}" in bar.moves[0][1]
    assert f"loss {losses.seen[6]:.4f}" in bar.moves[1][1]


def test_an_error_takes_the_bar_away(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fail(Callback):
        def on_step_end(self, state: TrainState) -> None:
            raise KeyError

    monkeypatch.setattr("netwright.train.callbacks.progress.Bar", FakeBar)
    progress = Progress()
    with pytest.raises(KeyError):
        toy_fit(toy_net(), toy_data(), callbacks=[progress, Fail()])
    bar: Any = progress.bar
    assert bar.closed == 1


def test_before_the_start_there_is_nothing_to_show_or_to_close() -> None:
    progress, state = Progress(), toy_start()
    for event in (progress.on_step_end, progress.on_epoch_end, progress.on_abort):
        event(state)
    progress.on_fit_end(state)
    assert progress.bar is None


def test_without_a_terminal_a_long_epoch_has_lines_by_time(
    capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.train.callbacks.progress.LINE_EVERY", 0.0)
    toy_fit(toy_net(), toy_data(), epochs=1, callbacks=[StepRows(1), Progress()])
    *lines, epoch = capsys.readouterr().err.splitlines()
    assert len(lines) == 5
    for step, line in enumerate(lines, start=1):
        told = rf"epoch 1/1  step {step}/5  loss \d\.\d{{4}}  lr 0\.001  [\d,]+ samples/s  \d+\.\ds"
        assert re.fullmatch(told, line)
    assert epoch.startswith("epoch   1/1  loss: train ")


def test_the_loss_on_the_way_is_a_mean_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.train.callbacks.progress.Bar", FakeBar)
    progress = Progress()
    state = toy_fit(toy_net(), toy_data(), callbacks=[StepRows(1), progress])
    bar: Any = progress.bar
    mean = sum(state.history.series("step/loss")[-10:]) / 10
    assert f"loss {mean:.4f}" in bar.moves[-1][1]


def test_a_measurement_on_the_way_is_a_line(capsys: Any) -> None:
    toy_fit(toy_net(), toy_data(), epochs=1, eval_every=2, callbacks=[StepRows(1), Progress()])
    lines = capsys.readouterr().err.splitlines()
    number = r"\d\.\d{4}"
    speed = r"[\d,]+ samples/s  \d+\.\ds"
    told = rf"epoch 1/1  step 2/5  loss: val {number}  accuracy: val {number}  {speed}"
    assert re.fullmatch(told, lines[0])
    assert [line.split("  ")[1] for line in lines[:2]] == ["step 2/5", "step 4/5"]


def test_the_speed_is_that_of_the_epoch_without_its_measuring(
    capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("netwright.train.state.time.monotonic", lambda: now[0])
    state, progress = toy_start(), Progress()
    state.started, state.samples = now[0], 50
    progress.on_fit_start(state)
    progress.on_epoch_start(state)
    now[0], state.samples, state.measuring_seconds = 104.0, 20_050, 2.0
    progress.on_epoch_end(state)
    assert "  10,000 samples/s  4.0s\n" in capsys.readouterr().err


def test_of_texts_tokens_are_counted_also_where_the_batch_is_gone(
    capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("netwright.train.state.time.monotonic", lambda: now[0])
    state, progress = toy_start(), Progress()
    state.task, state.started = LanguageModelling(5), now[0]
    progress.on_fit_start(state)
    progress.on_epoch_start(state)
    text = torch.zeros(4, 7, dtype=torch.int64)
    state.batch = Batch(text, text, None, torch.arange(4))
    progress.on_step_end(state)
    now[0], state.samples, state.batch = 102.0, 4, None
    progress.on_epoch_end(state)
    assert "  14 tokens/s  2.0s\n" in capsys.readouterr().err


def test_lines_by_time_come_when_their_time_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("netwright.train.callbacks.progress.Bar", FakeBar)
    monkeypatch.setattr("netwright.train.callbacks.progress.time.monotonic", lambda: now[0])
    state, progress = toy_start(), Progress()
    state.loss = torch.tensor(0.5)
    progress.on_fit_start(state)
    bar = progress.bar
    assert isinstance(bar, FakeBar)
    bar.is_live, bar.asked = False, 1
    counts = []
    for passed in (0, LINE_EVERY - 1, LINE_EVERY, LINE_EVERY + 1, 2 * LINE_EVERY):
        now[0], bar.asked = 100 + passed, 1
        progress.on_step_end(state)
        counts.append(len(bar.lines))
    assert counts == [0, 0, 1, 1, 2]
    bar.is_live, now[0], bar.asked = True, 10_000.0, 1
    progress.on_step_end(state)
    assert len(bar.lines) == 2
