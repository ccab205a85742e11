"""Callbacks: overridden events are called, the others cost nothing, misspelt ones are refused."""

import re

import pytest

from netwright.core.errors import ConfigError
from netwright.train.callback import EVENTS, Callback, check_callbacks, collect_hooks
from netwright.train.state import TrainState
from tests.train.toy_runs import toy_data, toy_fit, toy_net, toy_start, toy_trainer


class Everything(Callback):
    """Notes every event."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def on_fit_start(self, state: TrainState) -> None:
        self.told.append("fit_start")

    def on_epoch_start(self, state: TrainState) -> None:
        self.told.append("epoch_start")

    def on_batch_start(self, state: TrainState) -> None:
        self.told.append("batch_start")

    def on_before_update(self, state: TrainState) -> None:
        self.told.append("before_update")

    def on_step_end(self, state: TrainState) -> None:
        self.told.append("step_end")

    def on_evaluation(self, state: TrainState) -> None:
        self.told.append("evaluation")

    def on_batch_end(self, state: TrainState) -> None:
        self.told.append("batch_end")

    def on_epoch_end(self, state: TrainState) -> None:
        self.told.append("epoch_end")

    def on_fit_end(self, state: TrainState) -> None:
        self.told.append("fit_end")

    def on_abort(self, state: TrainState) -> None:
        self.told.append("abort")


class Base(Callback):
    def on_epoch_end(self, state: TrainState) -> None:
        pass


class Heir(Base):
    pass


def test_events_come_in_their_order() -> None:
    everything = Everything()
    toy_fit(toy_net(), toy_data(rows=8), epochs=2, callbacks=[everything])
    batch = ["batch_start", "before_update", "step_end", "batch_end"]
    epoch = ["epoch_start", *batch * 2, "epoch_end"]
    assert everything.told == ["fit_start", *epoch, *epoch, "fit_end"]


def test_a_batch_that_only_adds_up_gradients_is_a_batch_and_no_step() -> None:
    everything = Everything()
    toy_fit(toy_net(), toy_data(rows=8), epochs=1, accumulate=2, callbacks=[everything])
    last = ["batch_start", "before_update", "step_end", "batch_end"]
    epoch = ["epoch_start", "batch_start", "batch_end", *last, "epoch_end"]
    assert everything.told == ["fit_start", *epoch, "fit_end"]


def test_every_event_can_be_overridden() -> None:
    everything = Everything()
    hooks = collect_hooks([everything])
    assert list(hooks) == list(EVENTS)
    for event in EVENTS:
        (hook,) = hooks[event]
        hook(toy_start())
    assert [f"on_{name}" for name in everything.told] == list(EVENTS)


def test_what_is_not_overridden_is_not_called_at_all() -> None:
    assert collect_hooks([]) == collect_hooks([Callback()]) == {event: [] for event in EVENTS}
    hooks = collect_hooks([Base(), Callback(), Heir()])
    assert {event: len(found) for event, found in hooks.items() if found} == {"on_epoch_end": 2}


def test_callbacks_are_called_in_the_order_given() -> None:
    first, second = Base(), Heir()
    assert collect_hooks([first, second])["on_epoch_end"] == [
        first.on_epoch_end,
        second.on_epoch_end,
    ]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("on_epch_end", "; did you mean 'on_epoch_end'?"),
        ("on_fit_begins", "; did you mean 'on_fit_end'?"),
        ("on_zzzzzzzzzzzzzzzz", f"; there are {', '.join(EVENTS)}"),
    ],
)
def test_a_misspelt_event_is_refused_before_training(name: str, hint: str) -> None:
    wrong = type("Mine", (Callback,), {name: lambda self, state: None})
    sentence = f"Mine has an unknown event {name!r}{hint}"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        toy_trainer(toy_data(), callbacks=[wrong()])


def test_a_callback_has_nothing_to_save_unless_it_says_so() -> None:
    callback = Callback()
    assert callback.state_dict() == {}
    callback.load_state_dict({})


def test_only_callbacks_are_taken() -> None:
    check_callbacks([Everything(), Callback()])
    check_callbacks(())
    wanted = (
        "a callback must be an instance of a subclass of netwright.train.callback.Callback with "
        "methods such as on_epoch_end(self, state), got "
    )
    for given, told in (
        (print, "builtin_function_or_method"),
        (Everything, "the class Everything"),
    ):
        with pytest.raises(ConfigError, match=re.escape(wanted + told)):
            check_callbacks([given])
    with pytest.raises(ConfigError, match="callbacks must be a list, got Everything"):
        check_callbacks(Everything())
