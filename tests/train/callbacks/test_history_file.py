"""The history on disk: it grows with the run, and holds what the run holds."""

from pathlib import Path

import pytest
import torch

from netwright.train.callback import Callback
from netwright.train.callbacks.history_file import EVERY, HistoryFile
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.callbacks.step_rows import StepRows
from netwright.train.state import TrainState
from netwright.train.watching.history import History, read_history
from tests.train.callbacks.test_non_finite import first_rows
from tests.train.toy_runs import toy_data, toy_fit, toy_net, toy_start


def test_every_epoch_is_on_disk_when_it_is_over(tmp_path: Path) -> None:
    counts: list[int] = []

    class Look(Callback):
        def on_epoch_end(self, state: TrainState) -> None:
            on_disk = read_history(tmp_path / "metrics.jsonl").rows
            assert on_disk == state.history.rows
            counts.append(len(on_disk))

    file = HistoryFile(tmp_path / "metrics.jsonl")
    state = toy_fit(toy_net(), toy_data(), callbacks=[file, Look()])
    assert counts == [4, 8, 12]
    assert read_history(tmp_path / "metrics.jsonl").rows == state.history.rows


def test_a_run_that_is_stopped_in_its_first_epoch_leaves_its_numbers(tmp_path: Path) -> None:
    class Stop(Callback):
        def on_step_end(self, state: TrainState) -> None:
            state.stop_reason = "stop"

    file = HistoryFile(tmp_path / "metrics.jsonl")
    state = toy_fit(toy_net(), toy_data(), callbacks=[file, Stop()])
    assert read_history(tmp_path / "metrics.jsonl").rows == state.history.rows
    assert len(state.history) == 4


@pytest.mark.parametrize("kept", [0, 4, 8])
def test_going_on_neither_doubles_rows_nor_keeps_later_ones(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "metrics.jsonl"
    toy_fit(toy_net(), toy_data(), callbacks=[HistoryFile(path)])
    with path.open("a") as file:
        file.write('{"step": 99, "epo')  # killed while it wrote
    state = toy_start()
    state.history = History(read_history(path).rows[:kept])  # what the checkpoint had
    again = HistoryFile(path)
    again.on_fit_start(state)
    assert read_history(path).rows == state.history.rows
    state.record("val", {"loss": 0.5})
    again.on_epoch_end(state)
    again.on_fit_end(state)
    assert read_history(path).rows == state.history.rows
    assert len(state.history) == kept + 1


def test_one_object_serves_several_runs(tmp_path: Path) -> None:
    file = HistoryFile(tmp_path / "metrics.jsonl")
    toy_fit(toy_net(), toy_data(), callbacks=[file])
    state = toy_fit(toy_net(), toy_data(), epochs=1, callbacks=[file])
    assert read_history(tmp_path / "metrics.jsonl").rows == state.history.rows


def test_rows_of_a_long_epoch_are_written_on_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.train.callbacks.history_file.EVERY", 0.0)
    path, counts = tmp_path / "metrics.jsonl", list[int]()

    class Look(Callback):
        def on_step_end(self, state: TrainState) -> None:
            counts.append(len(read_history(path)) // 5)

    callbacks = [StepRows(1), HistoryFile(path), Look()]
    toy_fit(toy_net(), toy_data(), epochs=1, callbacks=callbacks)
    assert counts == [1, 2, 3, 4, 5]


def test_rows_that_a_roll_back_takes_back_leave_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.train.callbacks.history_file.EVERY", 0.0)
    path, data, rows = tmp_path / "metrics.jsonl", toy_data(), StepRows(1)
    data.train.inputs[first_rows(data, 0, [2])[0]] = torch.nan
    callbacks = [GuardNonFinite("roll-back", [rows]), rows, HistoryFile(path)]
    state = toy_fit(toy_net(), data, epochs=1, callbacks=callbacks)
    assert read_history(path).rows == state.history.rows


def test_a_run_that_is_set_back_has_a_file_of_its_rows_alone(tmp_path: Path) -> None:
    path, state = tmp_path / "metrics.jsonl", toy_start()
    file = HistoryFile(path)
    file.on_fit_start(state)
    state.record("val", {"loss": 0.5, "accuracy": 0.25})
    file.on_epoch_end(state)
    state.history = History()
    file.on_epoch_start(state)
    assert read_history(path).rows == []
    state.record("val", {"loss": 0.75})
    file.on_epoch_end(state)
    assert read_history(path).rows == state.history.rows


def test_between_two_looks_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("netwright.train.callbacks.history_file.time.monotonic", lambda: now[0])
    path, state = tmp_path / "metrics.jsonl", toy_start()
    file = HistoryFile(path)
    file.on_fit_start(state)
    state.record("val", {"loss": 0.5})
    for passed, on_disk in ((0.0, 0), (EVERY / 2, 0), (EVERY, 1), (EVERY, 1)):
        now[0] = 100 + passed
        file.on_step_end(state)
        assert len(read_history(path)) == on_disk


def test_what_is_measured_on_the_way_is_on_disk_at_once(tmp_path: Path) -> None:
    path, state = tmp_path / "metrics.jsonl", toy_start()
    file = HistoryFile(path)
    file.on_fit_start(state)
    state.record("val", {"loss": 0.5})
    file.on_evaluation(state)
    assert read_history(path).rows == state.history.rows
