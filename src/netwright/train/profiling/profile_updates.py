"""Profile a few updates of a run: after some to get warm, as they are, by part, and by operation.

    warm        what torch prepares, chooses and captures is done
    plain       one moment an update; nothing else differs from an update without a profile
    by part     a moment after each part; on CUDA kernel by kernel, as a graph has no parts
    watched     under torch's profiler, which tells operations, kernels and waits
                where the run is measured in between, only the updates after that

Then the work of a batch is counted on a copy of the model, and at the end of the run the rates of
the hardware are looked up. The device is waited for in the profiled updates alone. No number of the
run changes: weights, draws and statistics are the same bits without a profile.
"""

from dataclasses import replace
from itertools import compress, pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

from torch import Tensor, nn

from netwright.core.peak_memory import MEBIBYTE, peak_memory
from netwright.core.trees import tensors_of
from netwright.data.loading.loader import Batch
from netwright.train.callback import Callback, Part
from netwright.train.precision import autocast
from netwright.train.profiling.batch_work import BatchWork, measure_work
from netwright.train.profiling.held_memory import gradient_bytes, held_bytes
from netwright.train.profiling.laps import Laps
from netwright.train.profiling.profile_file import write_profile
from netwright.train.profiling.seen_updates import SeenUpdates, put_together
from netwright.train.profiling.throughput import tokens_of_example
from netwright.train.profiling.watched_operations import Watched, WatchedOperations
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState, no_lap
from netwright.train.updates.training_forward import training_forward


class Plan(NamedTuple):
    """How many updates there are of each kind.

    The first ten have a row of history each, and a graph is captured some updates after them.
    """

    warm: int = 24
    plain: int = 20
    by_part: int = 10
    watched: int = 3

    def fitted(self, updates: int) -> "Plan":
        """The same for a run of so many updates: one that is shorter has fewer of each kind."""
        whole = sum(self)
        if updates >= whole:
            return self
        return Plan(*(max(1, count * updates // whole) for count in self))

    @property
    def until_by_part(self) -> int:
        """Updates before those by part."""
        return self.warm + self.plain

    @property
    def until_watched(self) -> int:
        """Updates before those that are watched."""
        return self.until_by_part + self.by_part


class ProfileUpdates(Callback):
    """Writes the profile of a few updates; it comes right behind the guard, which it times.

    Args:
        file: where it is written.
        config: of the run.
        is_counted: the loss is the task's, so that the work of a batch can be counted.
        plan: how many updates are looked at.
    """

    def __init__(
        self,
        file: Path,
        config: TrainConfig,
        *,
        is_counted: bool = True,
        plan: Plan = Plan(),  # noqa: B008 - it never changes
    ) -> None:
        self.file, self.config, self.is_counted, self.asked = file, config, is_counted, plan
        self.plan, self.made, self.watched_from = plan, 0, 0
        self.operations: WatchedOperations | None = None
        self.watched: Watched | None = None
        self.seen: SeenUpdates | None = None

    def on_fit_start(self, state: TrainState) -> None:
        """Nothing has been seen yet."""
        self.plan, self.made = self.asked.fitted(state.all_updates - state.step), 0
        self.plain, self.by_part = Laps(state.device), Laps(state.device)
        # Examples seen and updates by a graph, before each plain update and after the last.
        self.counts: list[tuple[int, int]] = []
        self.gradients = 0
        self.operations = self.watched = self.seen = None

    def on_epoch_start(self, state: TrainState) -> None:
        """What was between two passes is no part of an update."""
        self._leave_out(state)

    def on_evaluation(self, state: TrainState) -> None:
        """Nor is measuring."""
        self._leave_out(state)

    def part_in_update(self, state: TrainState) -> Part:
        """Updates that are looked into run kernel by kernel."""
        return "host" if self._is_by_part or self.operations is not None else "none"

    def on_before_update(self, state: TrainState) -> None:
        """Gradients are there, and the guard has looked at them."""
        if self._is_by_part:
            state.lap("guard")
            self.gradients = gradient_bytes(state)

    def on_step_end(self, state: TrainState) -> None:
        """An update is over: go on to the next kind of them where it is time."""
        if self.made == sum(self.plan):
            return
        self.made += 1
        if self.plan.warm < self.made <= self.plan.until_by_part:
            self.plain("update")
            self.plain.close()
            self.counts.append((state.samples, state.by_graph))
        elif self.plan.until_by_part < self.made <= self.plan.until_watched:
            self.by_part("callbacks")
            self.by_part.close()
        elif self.operations is not None and self.made == sum(self.plan):
            # Here and not after the batch: the trainer may measure in between.
            self.watched = self.operations.end(self.made - self.watched_from)
            self.operations = None
        if self.made == self.plan.warm:
            self.plain.begin()
            self.counts = [(state.samples, state.by_graph)]
        elif self.made == self.plan.until_by_part:
            self.by_part.begin()
            state.lap = self.by_part
        elif self.made == self.plan.until_watched:
            state.lap = no_lap
            self._watch(state)

    def on_batch_end(self, state: TrainState) -> None:
        """The guard has noted its number; after the last update all is put in order."""
        if self._is_by_part:
            state.lap("guard")
        elif self.watched is not None and self.seen is None and state.batch:
            self.seen = self._look(state, state.batch, self.watched)

    def on_fit_end(self, state: TrainState) -> None:
        """Write what was seen; where that fails, the run is none the worse."""
        self._let_go(state)
        if self.seen is None:
            updates = f"{self.made} of the {sum(self.plan)} updates that a profile takes"
            state.notes.append(f"there is no profile: the run made {updates}")
            return
        try:
            write_profile(self.file, put_together(self.seen, state.device))
        except Exception as error:  # measuring the hardware takes memory that may not be there
            state.notes.append(f"there is no profile: {_in_short(error)}")

    def on_abort(self, state: TrainState) -> None:
        """Watch no longer."""
        self._let_go(state)

    @property
    def _is_by_part(self) -> bool:
        """Whether the update at hand is timed by part."""
        return self.plan.until_by_part <= self.made < self.plan.until_watched

    def _watch(self, state: TrainState) -> None:
        """Watch operations from here on."""
        self.operations, self.watched_from = WatchedOperations(state.device), self.made

    def _leave_out(self, state: TrainState) -> None:
        if self._is_by_part:
            self.by_part.begin()
        elif self.plan.warm <= self.made < self.plan.until_by_part:
            self.plain.begin()
        elif self.operations is not None:
            # Operations are told of all that was watched: only the updates that follow count.
            self.operations.stop()
            self._watch(state)

    def _let_go(self, state: TrainState) -> None:
        state.lap = no_lap
        if self.operations is not None:
            self.operations.stop()
            self.operations = None

    def _look(self, state: TrainState, batch: Batch, watched: Watched) -> SeenUpdates:
        peak = peak_memory(state.device)  # before anything is copied
        work, reason = self._count(state, batch)
        plain = [update["update"] for update in self.plain.read()]
        amounts = [after[0] - before[0] for before, after in pairwise(self.counts)]
        by_graph = [after[1] > before[1] for before, after in pairwise(self.counts)]
        is_graph = 2 * sum(by_graph) > len(by_graph)  # those that the doctor watches are not
        tokens = tokens_of_example(state)
        return SeenUpdates(
            precision=self.config.precision,
            unit="tokens" if tokens else "samples",
            amount=median(amounts) * (tokens or 1),
            seconds=median(compress(plain, by_graph) if is_graph else plain),
            is_graph=is_graph,
            by_part=self.by_part.read(),
            batches=self.config.accumulate,
            batch_bytes=sum(tensor.nbytes for tensor in tensors_of(tuple(batch))),
            gradients=self.gradients,
            held=held_bytes(state),
            peak=round(peak * MEBIBYTE),
            watched=watched,
            work=work,
            not_counted=reason,
        )

    def _count(self, state: TrainState, batch: Batch) -> tuple[BatchWork | None, str]:
        """The work of a batch, or why it cannot be counted."""
        if not self.is_counted:
            return None, "the training step is one of your own"

        config, task = replace(self.config, compile=False), state.task

        def loss(model: nn.Module, batch: Batch) -> Tensor:
            forward = training_forward(model, task, config)
            with autocast(config.precision, state.device):
                return task.score(forward(task.inputs(batch)), batch)[1]

        try:
            work = measure_work(state.model, batch, loss)
        except Exception as error:  # whatever a model of one's own does not bear, training goes on
            return None, _in_short(error)
        return work, ""


def _in_short(error: Exception) -> str:
    """The first line of its message."""
    return (str(error) or type(error).__name__).splitlines()[0][:100]
