"""The loop: batches, steps, epochs, measurements and events; as fast as one written by hand."""

from collections.abc import Sequence

from torch import nn

from netwright.core.devices import pick_device
from netwright.core.seeding import derive_seed, seeded, set_random_state
from netwright.data.dataset import Data, Split
from netwright.data.loader import BatchLoader
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from netwright.optimizers.schedules import build_schedule
from netwright.train.callback import Callback, collect_hooks
from netwright.train.evaluate import measure_quickly
from netwright.train.precision import build_scaler
from netwright.train.running import RunningMeasures
from netwright.train.settings import TrainConfig, pace_for
from netwright.train.state import TrainState
from netwright.train.step import UpdateStep
from netwright.train.tasks.task import Task


class Trainer:
    """Trains any `nn.Module` on data in memory.

    The data is moved to the device once; in the loop nothing waits for the device and no example is
    touched by Python alone. The order of examples and every random draw follow from the seed.

    Args:
        config: how to train.
        task: what to train for.
        callbacks: what happens beside the steps.
        seed: of the order of examples and of dropout.
    """

    def __init__(
        self,
        config: TrainConfig,
        task: Task,
        *,
        callbacks: Sequence[Callback] = (),
        seed: int = 0,
    ) -> None:
        self.config, self.task, self.seed = config, task, seed
        self.callbacks = tuple(callbacks)
        self._hooks = collect_hooks(self.callbacks)

    def start(self, model: nn.Module, data: Data) -> TrainState:
        """Put model and settings together; nothing has been learned yet."""
        device = pick_device(self.config.device)
        model.to(device)
        config = self.config
        optimizer = build_optimizer(
            OPTIMIZERS.load(config.optimizer),
            model,
            lr=config.lr,
            weight_decay=config.weight_decay,
            kernel=config.kernel,
            options=config.optimizer_options,
        )
        pace = pace_for(config, len(data.train))
        self._loader(data.train)  # refuses a batch of more rows than there are
        return TrainState(
            model=model,
            task=self.task,
            optimizer=optimizer,
            schedule=build_schedule(
                config.schedule,
                optimizer,
                steps=pace.updates * pace.epochs,
                warmup=config.warmup,
            ),
            scaler=build_scaler(config.precision, device),
            device=device,
            running=RunningMeasures(self.task, device),
            epochs=pace.epochs,
            steps_per_epoch=pace.updates,
        )

    def fit(
        self, state: TrainState, data: Data, *, random: dict[str, object] | None = None
    ) -> None:
        """Train until the last epoch, or until a callback gives a reason to stop.

        Args:
            state: from `start`, or restored from a checkpoint.
            data: what to learn from.
            random: the generators' states of a checkpoint, to go on exactly; None starts by seed.
        """
        data = data.to(state.device)
        loader = self._loader(data.train)
        step = UpdateStep(state, self.config, self._hooks["on_before_update"])
        with seeded(derive_seed(self.seed, "train")):
            try:
                self._call("on_fit_start", state)
                state.model.train()
                state.optimizer.zero_grad()  # whatever the caller computed before is not ours
                if random is not None:
                    set_random_state(random)
                while state.epoch < state.epochs and not state.stop_reason:
                    if self._run_epoch(state, loader, step):
                        state.epoch, state.position = state.epoch + 1, 0
                        self._measure(state, data.val)
                        state.running.begin()
                        self._call("on_epoch_end", state)
                if state.position and not len(state.history):
                    self._measure(state, data.val)  # stopped in the first epoch: show something
                    state.unfinished_rows = len(state.history)
            except BaseException:
                self._call("on_abort", state)
                raise
            for hook in reversed(self._hooks["on_fit_end"]):
                hook(state)

    def _run_epoch(self, state: TrainState, loader: BatchLoader, step: UpdateStep) -> bool:
        """The rest of one pass; False where it was stopped on the way."""
        group = loader.batch_size * self.config.accumulate
        rows, batches = loader.rows, len(loader)
        step_end = self._hooks["on_step_end"]
        for batch in loader.epoch(state.epoch, state.position):
            size = len(batch.inputs)
            in_update = min(group, rows - state.position // self.config.accumulate * group)
            state.position += 1
            last = state.position % self.config.accumulate == 0 or state.position == batches
            output = step(batch, share=size / in_update, last=last)
            state.running.add(output, batch, state.loss)
            state.samples += size
            if last:  # half of an update is no place to stop at or to save
                for hook in step_end:
                    hook(state)
                if state.stop_reason:
                    return state.position == batches
            # Let go before the next batch is gathered, so that it takes the same, warm memory.
            state.batch = None
            del batch, output
        return True

    def _measure(self, state: TrainState, val: Split | None) -> None:
        """Record train and validation side by side."""
        state.record("train", state.running.values())
        if val is not None:
            state.record("val", measure_quickly(state.model, val, self.task))

    def _loader(self, train: Split) -> BatchLoader:
        pace = pace_for(self.config, len(train))
        return BatchLoader(train, pace.batch_size, seed=self.seed)

    def _call(self, event: str, state: TrainState) -> None:
        for hook in self._hooks[event]:
            hook(state)
