"""What may happen beside the steps: a callback overrides the events that it needs."""

from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any, ClassVar, Literal

from netwright.core.checks import nearest
from netwright.core.errors import ConfigError
from netwright.train.state import TrainState

Hook = Callable[[TrainState], None]
Part = Literal["none", "queued", "host"]
EVENTS = (
    "on_fit_start",
    "on_epoch_start",
    "on_batch_start",
    "on_before_update",
    "on_step_end",
    "on_evaluation",
    "on_batch_end",
    "on_epoch_end",
    "on_fit_end",
    "on_abort",
)


class Callback:
    """The abstract kind: every event does nothing until it is overridden.

    An event that no callback overrides costs nothing: the trainer collects the overridden ones
    once, before the first step.

    Args:
        only_changes_batch: all it does is to put another batch in the place of `state.batch`; it
            may then be called for a batch that is only tried, too.
    """

    only_changes_batch: ClassVar[bool] = False

    def on_fit_start(self, state: TrainState) -> None:
        """Before the first step."""

    def on_epoch_start(self, state: TrainState) -> None:
        """Before the first batch of a pass, or of what is left of one."""

    def on_batch_start(self, state: TrainState) -> None:
        """`state.batch` is about to be used; another may be put in its place."""

    def on_before_update(self, state: TrainState) -> None:
        """Gradients are there, the weights have not moved yet; L-BFGS calls it several times."""

    def part_in_update(self, state: TrainState) -> Part:
        """What `on_before_update` would do for the update at hand, where it is overridden.

        none: nothing, so it need not be called. queued: it only puts work into the device's queue,
        the same for every update, so it may be captured in a CUDA graph and is then called no more.
        host: something else.
        """
        return "host"

    def on_step_end(self, state: TrainState) -> None:
        """After an update; not between the batches that `accumulate` adds up.

        On CUDA an update may turn out a few updates later to be one of numbers that are not finite,
        which moved nothing; `state.confirm()` waits until that is known of all so far. Where the
        run then goes on, a callback of your own is only called for updates of which it is known.
        """

    def on_evaluation(self, state: TrainState) -> None:
        """After validation was measured on the way: every `eval_every` updates, and at the last.

        It comes after `on_step_end` of the same update; at the end of a pass there is
        `on_epoch_end` instead.
        """

    def on_batch_end(self, state: TrainState) -> None:
        """After a batch, also between those that `accumulate` adds up."""

    def on_epoch_end(self, state: TrainState) -> None:
        """After a pass over the data, with train and validation measured."""

    def on_fit_end(self, state: TrainState) -> None:
        """After the last step, also when training was stopped early; last callback first."""

    def on_abort(self, state: TrainState) -> None:
        """An error ends training; it is raised again afterwards."""

    def state_dict(self) -> dict[str, Any]:
        """What has to be kept for an exact continuation; plain values."""
        return {}

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""


class FunctionCallback(Callback):
    """A plain function that is called at one event.

    Args:
        event: the name of the event.
        function: of the state.
    """

    def __init__(self, event: str, function: Hook) -> None:
        if event not in EVENTS:
            hint = nearest(event, EVENTS) or f"; there are {', '.join(EVENTS)}"
            raise ConfigError(f"a callback has an unknown event {event!r}{hint}")
        if not callable(function):
            raise ConfigError(f"{event} must be a function of the state, got {_kind(function)}")
        self.event, self.function = event, function


def read_callbacks(given: Any) -> list[Callback]:
    """Callbacks, of a list of them and of functions with an event's name, or of a dict by event.

    Args:
        given: `[Mine(), on_epoch_end]`, or `{"on_epoch_end": function}` with one function or a
            list of them an event. Anything else is refused.
    """
    if isinstance(given, Mapping):
        return [
            FunctionCallback(str(event), function)
            for event, named in given.items()
            for function in (named if isinstance(named, list | tuple) else [named])
        ]
    if not isinstance(given, list | tuple):
        raise ConfigError(f"callbacks must be a list, got {_kind(given)}")
    found: list[Callback] = []
    for callback in given:
        if isinstance(callback, Callback):
            found.append(callback)
        elif isinstance(callback, Mapping):
            found += read_callbacks(callback)
        elif isinstance(callback, FunctionType) and callback.__name__.startswith("on_"):
            found.append(FunctionCallback(callback.__name__, callback))
        else:
            raise ConfigError(
                "a callback must be an instance of a subclass of "
                "netwright.train.callback.Callback with methods such as on_epoch_end(self, "
                f"state), got {_kind(callback)}; a function is given as "
                "{'on_epoch_end': function}"
            )
    return found


def _kind(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def overrides(callback: Callback, event: str) -> bool:
    """Whether a callback has something to do at an event."""
    if isinstance(callback, FunctionCallback):
        return callback.event == event
    return getattr(type(callback), event) is not getattr(Callback, event)


def collect_hooks(callbacks: Iterable[Callback]) -> dict[str, list[Hook]]:
    """Event -> the callbacks that override it; a misspelt event is refused."""
    hooks: dict[str, list[Hook]] = {event: [] for event in EVENTS}
    for callback in callbacks:
        if isinstance(callback, FunctionCallback):
            hooks[callback.event].append(callback.function)
            continue
        kind = type(callback)
        for name in dir(kind):
            if name.startswith("on_") and name not in hooks:
                hint = nearest(name, EVENTS) or f"; there are {', '.join(EVENTS)}"
                raise ConfigError(f"{kind.__name__} has an unknown event {name!r}{hint}")
        for event in EVENTS:
            if overrides(callback, event):
                hooks[event].append(getattr(callback, event))
    return hooks
