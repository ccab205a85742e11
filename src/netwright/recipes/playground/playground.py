"""A model that learns while it is watched: what is wanted of it may change at any step.

    with Playground(plan, show) as playground:
        playground.pace.play()

It learns by what trains every run, in a thread of its own, which is held between two steps. Each
change is a new plan that takes over the weights of the one before, where they have the same shapes,
and what its optimizer remembers.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch

from netwright.core.errors import NetwrightError
from netwright.core.learner import Learner
from netwright.recipes.fitting.learner_fit import measured_part
from netwright.recipes.fitting.prepared import Prepared, RunContext
from netwright.recipes.fitting.training import learn
from netwright.recipes.playground.allowance import Allowance
from netwright.recipes.playground.pace import EndedError, Pace
from netwright.recipes.playground.picture import Picture, Stage
from netwright.recipes.playground.plans import stage_for
from netwright.train.callback import Callback
from netwright.train.evaluate import measure_quickly
from netwright.train.optimizer_state import restore_optimizer
from netwright.train.state import TrainState

PICTURE_SECONDS = 1 / 40  # at least, from one picture to the next
UNIT_SECONDS = 1 / 8  # the same of the units: the eye follows the regions
MEASURE_SECONDS = 1 / 2  # the same of losses
SHARE = 0.035  # of the time that pictures may take; to send them takes about half as much
LONGEST = 1.0  # seconds without a picture while steps are made

Plan = Callable[[], Prepared]
Show = Callable[[Picture], None]


class ChangedError(EndedError):
    """Training is to go on by another plan."""


class Playground:
    """A model and its data, while it learns.

    Args:
        plan: makes the model and the data; called in the thread that trains.
        show: given each picture, in that thread; should return at once.
    """

    def __init__(self, plan: Plan, show: Show) -> None:
        self.pace, self._show = Pace(), show
        self.steps, self.drawing_seconds = 0, 0.0
        self._prepared = plan()
        self._stage: Stage = stage_for(self._prepared)
        self._carried: dict[str, Any] | None = None  # what an optimizer remembers
        self._optimizer: torch.optim.Optimizer | None = None
        self._drawn_at, self._units_at, self._measured_at = 0.0, 0.0, 0.0
        self._allowance = Allowance(SHARE)
        self._is_shown, self._told_playing = False, False
        self._thread = threading.Thread(target=self._live, name="playground", daemon=True)

    def start(self) -> None:
        """Let its thread begin; it waits for `pace.play`."""
        self._thread.start()

    def __enter__(self) -> "Playground":
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.pace.end()
        self._thread.join()

    def change(self, plan: Plan, *, keeps_weights: bool = True) -> None:
        """Go on by another plan; one that is refused changes nothing.

        Args:
            plan: the new one.
            keeps_weights: begin with the weights that there are, where the shapes are the same.
        """
        self.ask_change(plan, keeps_weights=keeps_weights).result()

    def ask_change(self, plan: Plan, *, keeps_weights: bool) -> Future[None]:
        """The same without waiting, for a step may be long; what is cancelled changes nothing."""
        return self.pace.ask(lambda: self._take(plan, keeps_weights=keeps_weights))

    def _take(self, plan: Plan, *, keeps_weights: bool) -> None:
        prepared, before = plan(), self._prepared.model
        stage = stage_for(prepared)
        weights = before.state_dict()
        is_same = _shapes(prepared.model.state_dict()) == _shapes(weights)
        self._carried = None
        if keeps_weights and is_same and not isinstance(prepared.model, Learner):
            prepared.model.load_state_dict(weights)
            if self._optimizer is not None:
                self._carried = self._optimizer.state_dict()
        else:
            self.steps = 0
        self._prepared, self._stage, self._optimizer = prepared, stage, None
        raise ChangedError

    def look_at(self, pixels: Sequence[int]) -> Future[None]:
        """Show what it makes of an image, now and while it learns; see `ImageStage.look_at`."""
        return self.pace.ask(lambda: self._look(pixels))

    def _look(self, pixels: Sequence[int]) -> None:
        self._stage.look_at(pixels)
        self._units_at = 0.0
        self._draw("picture")

    def _live(self) -> None:
        """Train, by one plan after the other; a failure is told, and what waits is refused."""
        try:
            while True:
                with suppress(ChangedError):
                    self._open()
                    self._train()
        except EndedError:
            pass
        except Exception as error:  # of a model or of ours: the thread has nobody to hand it to
            told = {"kind": "end", "step": self.steps, "playing": False, "layers": []}
            said = f"this playground failed ({type(error).__name__}: {error}): reload the page"
            self._show(Picture(numbers={**told, "said": said}))
        finally:
            self.pace.end()

    def _train(self) -> None:
        """Learn to the end of the plan; then wait for another one."""
        said = "finished"
        try:
            self.pace.hold(lambda: None)
            context = RunContext(extra=[_Held(self)], on_own_step=self._after_own, quiet=True)
            learn(self._prepared, context)
        except NetwrightError as error:
            said = str(error)
        while True:
            self.pace.pause()
            self._draw("end", said=said)
            self.pace.hold(lambda: None)

    def _open(self) -> None:
        """Tell what is to be seen, before the first step."""
        self._units_at = 0.0
        told = self._stage.opening()
        self._show(replace(told, numbers={"kind": "opening", **told.numbers}))
        self._draw("picture")

    def _after_own(self, numbers: Mapping[str, float]) -> None:
        self.after_step()

    def after_step(self) -> None:
        """Show what there is, if it is time; then wait until the next step may be made."""
        self.steps += 1
        self._is_shown = False
        since = time.monotonic() - self._drawn_at
        if since >= PICTURE_SECONDS and (since >= LONGEST or self._allowance.is_left(self._time())):
            self._draw("picture")
        self.pace.hold(self._draw_if_new)

    def begin(self, state: TrainState) -> None:
        """Give an optimizer what the one before remembers, where it is of the same kind."""
        self._optimizer = state.optimizer
        if self._carried is not None:
            with suppress(ValueError, KeyError):  # another optimizer remembers other things
                restore_optimizer(state.optimizer, self._carried, with_settings=False)

    def _draw_if_new(self) -> None:
        """Before it waits, whoever watches sees the last step, and that it waits."""
        if not self._is_shown or self._told_playing:
            self._draw("picture")

    def _time(self) -> float:
        """Seconds of this thread alone, and those in which it waited for its next step.

        A machine that is busy with other things does not make it longer.
        """
        return time.thread_time() + self.pace.waited

    def _draw(self, kind: str, **told: Any) -> None:
        began = time.thread_time()
        self._told_playing = self.pace.is_playing
        numbers = {"kind": kind, "step": self.steps, "playing": self._told_playing, **told}
        try:
            picture = self._stage.draw(with_units=self._are_units_due())
            picture = replace(picture, numbers={**numbers, **self._measures(), **picture.numbers})
        except (NetwrightError, RuntimeError):  # a model that cannot answer before it has learned
            picture = Picture(numbers={**numbers, "layers": []})
        self._show(picture)
        self._drawn_at, self._is_shown = time.monotonic(), True
        cost = time.thread_time() - began
        self._allowance.spend(cost)
        self.drawing_seconds += cost

    def _are_units_due(self) -> bool:
        """Whether the units are shown, too: now and then, and whenever it waits."""
        now = time.monotonic()
        if self.pace.is_playing and now - self._units_at < UNIT_SECONDS:
            return False
        self._units_at = now
        return True

    def _measures(self) -> dict[str, Any]:
        """The loss and the headline measure on training and validation rows, now and then."""
        now, prepared = time.monotonic(), self._prepared
        if self.pace.is_playing and now - self._measured_at < MEASURE_SECONDS:
            return {}
        self._measured_at = now
        splits = [(name, split) for name, split in prepared.data.splits() if name != "test"]
        return {
            name: measure_quickly(prepared.model, measured_part(split), prepared.task)
            for name, split in splits
        }


class _Held(Callback):
    """Holds training by gradients after each update.

    Args:
        playground: that says for how long.
    """

    def __init__(self, playground: Playground) -> None:
        self._playground = playground

    def on_fit_start(self, state: TrainState) -> None:
        """Hand over what the optimizer before remembers."""
        self._playground.begin(state)

    def on_step_end(self, state: TrainState) -> None:
        """Wait for as long as a person says."""
        self._playground.after_step()


def _shapes(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Size]:
    return {name: weight.shape for name, weight in weights.items()}
