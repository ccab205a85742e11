"""Ctrl-C and SIGTERM: the step at hand is finished, the place is saved, and training stops."""

import json
import os
import signal
from pathlib import Path

import pytest

from netwright.core.terminal.interrupts import Interrupt
from netwright.train.callback import Callback
from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
from netwright.train.callbacks.stop_on_signal import StopOnSignal
from netwright.train.state import TrainState
from tests.train.toy_runs import toy_data, toy_fit, toy_net


class Send(Callback):
    """Sends this process a signal in the middle of an update."""

    def __init__(self, number: int, step: int) -> None:
        self.number, self.step = number, step

    def on_before_update(self, state: TrainState) -> None:
        if state.step == self.step - 1:
            os.kill(os.getpid(), self.number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("step", [1, 7, 10])
def test_a_signal_ends_training_after_the_step_at_hand(
    tmp_path: Path, number: signal.Signals, step: int
) -> None:
    before = signal.getsignal(number)
    with Interrupt() as interrupt:
        calls = [Send(number, step), StopOnSignal(interrupt), SaveCheckpoints(tmp_path)]
        state = toy_fit(toy_net(), toy_data(), callbacks=calls)
    assert (state.step, state.samples) == (step, 4 * step)
    assert state.stop_reason == f"interrupted by {number.name}"
    last = json.loads((tmp_path / "last.json").read_text())
    assert last["checkpoint"] == f"step-{step:06d}"  # no step is lost
    assert state.is_cut_short
    assert signal.getsignal(number) == before


def test_a_signal_between_two_batches_of_one_update_ends_training_there(tmp_path: Path) -> None:
    class SendAt(Callback):
        def on_batch_end(self, state: TrainState) -> None:
            if state.samples == 12:  # the third batch of an update of two
                os.kill(os.getpid(), signal.SIGTERM)

    with Interrupt() as interrupt:
        calls = [SendAt(), StopOnSignal(interrupt), SaveCheckpoints(tmp_path)]
        state = toy_fit(toy_net(), toy_data(), accumulate=2, callbacks=calls)
    assert (state.step, state.samples, state.accumulated) == (1, 12, 1)
    assert json.loads((tmp_path / "last.json").read_text())["checkpoint"] == "step-000001"


def test_without_a_signal_nothing_happens() -> None:
    with Interrupt() as interrupt:
        state = toy_fit(toy_net(), toy_data(), callbacks=[StopOnSignal(interrupt)])
    assert (state.step, state.stop_reason) == (15, "")
