"""Callbacks: overridden events are called, the others cost nothing, misspelt ones are refused."""

import re

import pytest

from netwright.core.errors import ConfigError
from netwright.train.callback import EVENTS, Callback, collect_hooks, read_callbacks
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


def test_functions_are_taken_by_the_name_of_an_event_or_by_a_dict() -> None:
    seen: list[str] = []

    def on_epoch_end(state: TrainState) -> None:
        seen.append(f"named {state.epoch}")

    def first(state: TrainState) -> None:
        seen.append(f"first {state.epoch}")

    given = [on_epoch_end, {"on_epoch_end": [first, first], "on_fit_end": first}]
    toy_fit(toy_net(), toy_data(), callbacks=read_callbacks(given), epochs=1)
    assert seen == ["named 1", "first 1", "first 1", "first 1"]
    assert len(read_callbacks({"on_fit_end": first})) == 1


def test_other_functions_are_refused_with_the_way_to_give_them() -> None:
    def on_epoch_over(state: TrainState) -> None:
        pass

    with pytest.raises(ConfigError, match=r"given as \{'on_epoch_end': function\}"):
        read_callbacks([lambda state: None])
    for given in ([on_epoch_over], {"on_epoch_over": print}):
        with pytest.raises(ConfigError, match="unknown event 'on_epoch_over'"):
            read_callbacks(given)
    with pytest.raises(ConfigError, match="on_fit_end must be a function of the state, got int"):
        read_callbacks({"on_fit_end": 3})


def test_only_callbacks_are_taken() -> None:
    read_callbacks([Everything(), Callback()])
    read_callbacks(())
    wanted = (
        "a callback must be an instance of a subclass of netwright.train.callback.Callback with "
        "methods such as on_epoch_end(self, state), got "
    )
    for given, told in (
        (print, "builtin_function_or_method"),
        (Everything, "the class Everything"),
    ):
        with pytest.raises(ConfigError, match=re.escape(wanted + told)):
            read_callbacks([given])
    with pytest.raises(ConfigError, match="callbacks must be a list, got Everything"):
        read_callbacks(Everything())
