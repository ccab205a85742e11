"""A carried state: as if the text were read in one go; resumed bit for bit; what is refused."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.data.loading.windows import WindowSplit
from netwright.models.sequence.lstm import LSTM
from netwright.train.callback import Callback
from netwright.train.callbacks.carry_state import CarryState
from netwright.train.saving.checkpoint import load_checkpoint, save_checkpoint
from netwright.train.state import TrainState
from tests.train.token_data import small_lstm, spec_of, text_data
from tests.train.toy_runs import assert_same, copy_of, toy_fit, toy_net, toy_trainer

LANES, WINDOW = 4, 4  # of 27 windows six batches, and three windows that are left
SETTINGS: dict[str, Any] = {"carry_state": True, "batch_size": LANES, "epochs": 2, "lr": 0.05}


class Watch(Callback):
    """Notes the state before each batch, and saves where it is told to."""

    def __init__(self, folder: Path | None = None, at: int = 0) -> None:
        self.folder, self.at = folder, at
        self.before: dict[tuple[int, int], Tensor] = {}
        self.inputs: dict[tuple[int, int], Tensor] = {}

    def on_batch_start(self, state: TrainState) -> None:
        assert isinstance(state.model, LSTM)
        assert state.batch is not None
        place = (state.epoch, state.position - 1)  # which batch of which epoch
        self.before[place] = state.model.carried.clone()
        self.inputs[place] = state.batch.inputs

    def on_step_end(self, state: TrainState) -> None:
        if self.folder is not None and state.step == self.at:
            save_checkpoint(self.folder, state)


def fitted(
    watch: Watch, go_on: Path | None = None, allow: Sequence[str] = (), **settings: Any
) -> TrainState:
    data = text_data()
    trainer = toy_trainer(data, callbacks=[watch], **{**SETTINGS, **settings})
    state = trainer.start(small_lstm(data.spec, dropout=0.3), data)
    if go_on is not None:
        load_checkpoint(go_on, state, allow=allow)
    trainer.fit(state, data)
    return state


def test_windows_are_read_as_if_each_lane_were_one_text() -> None:
    data, watch = text_data(), Watch()
    trainer = toy_trainer(data, callbacks=[watch], **{**SETTINGS, "lr": 1e-30})
    model = small_lstm(data.spec)
    trainer.fit(trainer.start(model, data), data)
    lanes = torch.cat([watch.inputs[0, batch] for batch in range(6)], dim=1)
    assert isinstance(data.train, WindowSplit)
    assert torch.equal(lanes, data.train.stream[: 4 * 6 * WINDOW].view(4, -1))
    for batch in range(6):
        assert torch.equal(watch.inputs[1, batch], watch.inputs[0, batch])
        before = watch.before[1, batch]
        if not batch:  # an epoch begins at the beginning
            assert before.abs().max() == 0
            continue
        _, states = model.backbone(model.embed(lanes[:, : batch * WINDOW]))
        wanted = torch.cat([part.flatten(1) for part in states], dim=1)
        torch.testing.assert_close(before, wanted)
    assert watch.inputs[0, 6].shape == (3, WINDOW)


def test_without_it_every_window_begins_at_zero() -> None:
    watch = Watch()
    fitted(watch, carry_state=False)
    assert all(state.numel() == 0 for state in watch.before.values())


@pytest.mark.parametrize("average", ["none", "exponential"])
@pytest.mark.parametrize("at", [4, 6, 10])  # in the middle, before the windows that are left
def test_a_run_that_goes_on_within_an_epoch_is_the_same_bit_for_bit(
    at: int, average: str, tmp_path: Path
) -> None:
    first, again = Watch(tmp_path / "saved", at), Watch()
    wanted = fitted(first, average=average)
    got = fitted(again, go_on=tmp_path / "saved", average=average)
    assert_same(copy_of(got.model), copy_of(wanted.model))
    assert [replace(row, time=0.0) for row in got.history] == [
        replace(row, time=0.0) for row in wanted.history
    ]
    assert again.before
    for place, before in again.before.items():
        assert_same(before, first.before[place])
    within = [before for (_, batch), before in again.before.items() if batch]
    assert all(before.abs().max() > 0 for before in within)


def test_a_run_may_go_on_with_other_batches(tmp_path: Path) -> None:
    fitted(Watch(tmp_path / "saved", 4))
    again = Watch()
    fitted(again, go_on=tmp_path / "saved", allow=["batch_size"], batch_size=3)
    assert again.before[0, 0].shape == (3, 12)
    assert again.before[0, 0].abs().max() == 0  # the epoch begins again


@pytest.mark.parametrize("fails", [False, True])
def test_the_next_training_of_the_model_carries_nothing(fails: bool) -> None:
    class Fail(Callback):
        def on_step_end(self, state: TrainState) -> None:
            if fails:
                raise RuntimeError("lost")

    data, model = text_data(), small_lstm(spec_of(WINDOW))
    trainer = toy_trainer(data, callbacks=[Fail()], **SETTINGS)
    with pytest.raises(RuntimeError, match="lost") if fails else nullcontext():
        trainer.fit(trainer.start(model, data), data)
    kept = model.carried.clone()
    assert kept.abs().max() > 0
    toy_fit(model, data, **{**SETTINGS, "carry_state": False})
    assert torch.equal(model.carried, kept)


def test_a_run_that_was_stopped_goes_on_in_the_same_process() -> None:
    class Stop(Callback):
        def on_step_end(self, state: TrainState) -> None:
            state.stop_reason = "enough" if state.step == 4 else ""

    data, watch, wanted = text_data(), Watch(), Watch()
    fitted(wanted)
    trainer = toy_trainer(data, callbacks=[watch, Stop()], **SETTINGS)
    state = trainer.start(small_lstm(data.spec, dropout=0.3), data)
    trainer.fit(state, data)
    assert state.position == 4
    state.stop_reason, before = "", watch.before[0, 3]
    trainer.fit(state, data)
    assert not torch.equal(watch.before[0, 4], before)
    assert torch.equal(watch.before[0, 4], wanted.before[0, 4])


def test_measuring_between_epochs_neither_uses_nor_moves_the_state() -> None:
    model = small_lstm(spec_of(WINDOW))
    model.carry_state(LANES)
    rows = text_data().train.inputs[:LANES]
    model.train()(rows)
    before = model.carried.clone()
    assert before.abs().max() > 0
    plain = small_lstm(spec_of(WINDOW)).eval()
    assert torch.equal(model.eval()(rows), plain(rows))
    assert torch.equal(model.carried, before)


def test_what_cannot_carry_a_state_is_refused() -> None:
    with pytest.raises(ConfigError) as refusal:
        CarryState(toy_net(), LANES)
    sentence = "carry_state is for recurrent models, Sequential has no state to carry"
    assert str(refusal.value) == sentence
    data = text_data(stride=2)
    with pytest.raises(ConfigError, match="carry_state needs windows that follow each other"):
        toy_trainer(data, **SETTINGS).start(small_lstm(data.spec), data)
