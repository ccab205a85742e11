"""The loop: batches, steps, epochs, measurements and events; as fast as one written by hand."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from torch import nn

from netwright.core.devices import device_of, pick_device
from netwright.core.errors import ConfigError
from netwright.core.seeding import derive_seed, seeded
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Data, Split
from netwright.data.loading.by_length import Lengths
from netwright.data.loading.loader import Loader
from netwright.data.loading.worker_loader import build_loader
from netwright.inspection.drawing.page import text
from netwright.train.building import (
    build_run_engine,
    build_run_optimizer,
    build_run_schedule,
    check_own_step,
    check_sharding,
)
from netwright.train.callback import Callback, Hook, collect_hooks
from netwright.train.callbacks.carry_state import CarryState
from netwright.train.measuring import Measuring
from netwright.train.own.parts import NO_PARTS, OwnParts
from netwright.train.own_step import OwnStep
from netwright.train.parts import group_by_part
from netwright.train.precision import build_scaler
from netwright.train.profiling.onednn import with_onednn
from netwright.train.ranks import ALONE, Ranks
from netwright.train.regularization import Regularizers, build_average, regularizing_callbacks
from netwright.train.saving.conditions import describe_conditions
from netwright.train.settings import TrainConfig, pace_of
from netwright.train.state import SetBack, TrainState
from netwright.train.step import UpdateStep
from netwright.train.tasks.task import Task
from netwright.train.update_shares import UpdateShares
from netwright.train.updates.capture_rules import may_repeat
from netwright.train.updates.compiled_forward import check_codes
from netwright.train.updates.recomputed_blocks import check_blocks
from netwright.train.watching.recent_losses import RecentLosses
from netwright.train.watching.running_losses import RunningLosses
from netwright.train.watching.running_metrics import RunningMetrics


class Trainer:
    """Trains any `nn.Module`, on data in memory or on disk; the loop alone, without a run folder.

        trainer = nw.Trainer(nw.TrainConfig(epochs=5), nw.train.task_for(data))
        state = trainer.start(module, data)
        trainer.fit(state, data)
        state.history.series("val/loss")

    Data in memory is moved to the device once, and no example is touched by Python alone. The order
    of examples and every random draw follow from the seed.

    Args:
        config: how to train.
        task: what to train for.
        callbacks: what happens beside the steps.
        seed: of the order of examples and of dropout.
        ranks: the processes that train the model together; each takes its part of every batch.
        own: objects that a caller handed over in the place of what settings name.
        to_optimum: all rows at once are searched for the optimum of a convex loss. The seed has no
            part in that: they come in their own order.
    """

    def __init__(
        self,
        config: TrainConfig,
        task: Task,
        *,
        callbacks: Sequence[Callback] = (),
        seed: int = 0,
        ranks: Ranks = ALONE,
        own: OwnParts = NO_PARTS,
        to_optimum: bool = False,
    ) -> None:
        if config.rule.closure and not ranks.is_alone:
            raise ConfigError(f"{config.optimizer} trains in one process: it takes its own steps")
        check_own_step(config, own, ranks)
        self.config, self.task, self.seed, self.ranks = config, task, seed, ranks
        self.callbacks, self.to_optimum, self.own = tuple(callbacks), to_optimum, own
        self._hooks = collect_hooks(self.callbacks)
        self._batch_changes: list[Hook] = []

    def _repr_html_(self) -> str:
        return text(f"Trainer of {self.task!r}, seed {self.seed}") + self.config._repr_html_()

    def start(self, model: nn.Module, data: Data) -> TrainState:
        """Put model and settings together; nothing has been learned yet."""
        config, built = self.config, model
        device = pick_device(config.device)
        engine = build_run_engine(config, self.own, self.ranks, model, device)
        model = engine.place(
            model, device, precision=config.precision, channels_last=config.channels_last
        )
        pace = pace_of(config, data.train)
        optimizer = build_run_optimizer(config, self.own, model, period=pace.updates, engine=engine)
        if config.layer_decay is not None:
            group_by_part(optimizer, model, config.layer_decay)
        elif config.unfreeze_every is not None:
            # torch's fused SGD takes no weights that have a momentum beside such that have none.
            group_by_part(optimizer, model)
        self._loader(data)  # refuses a batch of more rows than there are
        self._own_callbacks(model, data)  # refuses what does not fit
        if config.activation_checkpointing:
            check_blocks(model)
            if config.compile:
                check_codes(model)

        @cache
        def conditions() -> dict[str, Any]:
            epochs = pace.epochs if pace.last_step is None else None
            chosen = replace(config, batch_size=pace.batch_size, epochs=epochs)
            return describe_conditions(
                chosen,
                seed=self.seed,
                model=built,
                data=data,
                processes=self.ranks.world,
                device=device,
                shards=engine.shards,
                own=self.own.names,
            )

        return TrainState(
            model=model,
            task=self.task,
            optimizer=optimizer,
            schedule=build_run_schedule(config, self.own, optimizer, pace),
            scaler=build_scaler(config.precision, device),
            device=device,
            running=RunningMetrics(self.task, device)
            if self.own.training_step is None
            else RunningLosses(device),
            recent=RecentLosses(device),
            epochs=pace.epochs,
            steps_per_epoch=pace.updates,
            last_step=pace.last_step,
            conditions=conditions,
            ranks=self.ranks,
            engine=engine,
            average=build_average(config, model, updates=pace.all_updates, engine=engine),
        )

    def rehearse(self, model: nn.Module, data: Data) -> TrainState:
        """What `start` gives, without the other processes: refuses settings that do not fit.

        The model stays where it is.
        """
        if self.config.parallel == "shard":
            check_sharding(self.config, self.own, model)
        config = replace(
            self.config, parallel="replicate", offload=False, device=str(device_of(model))
        )
        trainer = Trainer(config, self.task, seed=self.seed, ranks=self.ranks, own=self.own)
        return trainer.start(model, data)

    def fit(self, state: TrainState, data: Data) -> None:
        """Train to the last epoch or update, or until a callback gives a reason to stop.

        Args:
            state: from `start`, or restored from a checkpoint.
            data: what to learn from.
        """
        data = data.to(state.device)
        loader = self._loader(data)
        first, last = self._own_callbacks(state.model, data)
        callbacks = [*first, *self.callbacks, *last]
        self._hooks = collect_hooks(callbacks)
        self._batch_changes = [one.on_batch_start for one in callbacks if one.only_changes_batch]
        state.may_repeat = may_repeat(
            data.train, state.model, state.optimizer, callbacks, self.task.own_loss
        )
        step = self._step(state, data.train)
        shares = UpdateShares(loader, self.task, self.config.accumulate)
        measuring = self._measuring(data)
        seed = derive_seed(self.seed, "train", *([] if self.ranks.is_first else [self.ranks.rank]))
        with seeded(seed), with_onednn(self.config.onednn):
            try:
                self._call("on_fit_start", state)
                self._take_up(state)
                step.allow_capture(callbacks)
                is_through = False
                while not is_through:
                    try:
                        with self.ranks.guarded("a pass over the data"):
                            self._run(state, loader, step, shares, measuring)
                        is_through = True
                    except SetBack:
                        state.is_updating, state.stop_reason, state.is_cut_short = False, "", False
            except BaseException:
                self._call("on_abort", state)
                raise
            finally:
                loader.close()
                step.let_go()
            if state.average is not None:
                state.average.put_in()
            for hook in reversed(self._hooks["on_fit_end"]):
                hook(state)
            state.engine.hand_back(state.model)

    def _run(
        self,
        state: TrainState,
        loader: Loader,
        step: UpdateStep,
        shares: UpdateShares,
        measuring: Measuring,
    ) -> None:
        """All that is left of the run."""
        while not state.is_whole and not state.stop_reason:
            if self._run_epoch(state, loader, step, shares, measuring):
                state.epoch, state.position = state.epoch + 1, 0
                with state.averaged():
                    measuring.of_pass(state)
                    state.running.begin()
                    self._call("on_epoch_end", state)
                self._agree_to_stop(state)
        if state.position and state.running.rows and not state.history.has("train"):
            before = len(state.history)
            with state.averaged():
                measuring.take(state)  # stopped in the first epoch: show something
            state.unfinished_rows = len(state.history) - before
        state.settle()

    def _take_up(self, state: TrainState) -> None:
        """Training mode, and what was loaded to be put in place."""
        if state.average is not None:
            state.average.take_out()  # where the state has ended a run before
        state.model.train()
        state.take_up()

    def _run_epoch(
        self,
        state: TrainState,
        loader: Loader,
        step: UpdateStep,
        shares: UpdateShares,
        measuring: Measuring,
    ) -> bool:
        """The rest of one pass; False where it ended or was set back on the way."""
        accumulate, batches = self.config.accumulate, len(loader)
        parts = shares.of_epoch(state.epoch)
        batch_end = self._hooks["on_batch_end"]
        self._begin_epoch(state, loader, step)
        for batch in loader.epoch(state.epoch, state.position):
            place, made = state.position, state.step
            own, whole = loader.sizes(place)
            state.position += 1
            if state.passed_over and (state.epoch, place) in state.passed_over:
                state.samples += whole
                continue
            last = state.position % accumulate == 0 or state.position == batches
            output: Any = step(batch, share=parts[place], last=last)
            state.samples += whole
            if own and not state.skips_update:
                # Labels are measured as they were before mixup and noise; masks move with images,
                # and tokens that are to be found are those that were covered in this epoch.
                seen = state.batch if self.task.target in {"mask", "tokens"} else batch
                state.running.add(output, seen or batch, state.loss)
                state.recent.add(state.loss, parts[place])
            state.lap("measures")
            if last and not state.skips_update:
                state.recent.close()
                self._call("on_step_end", state)
                if measuring.is_due(state, after=made, ends=state.position == batches):
                    self._measure_on_the_way(state, measuring)
            state.lap("callbacks")
            for hook in batch_end:
                hook(state)
            state.lap("callbacks")
            if state.goes_back:
                state.goes_back = False
                return False
            # Gradients that wait are known to their own rank only, or to torch's engine.
            if last or (self.ranks.is_alone and not state.engine.shards):
                self._agree_to_stop(state)
                if state.stop_reason or (last and state.is_whole):
                    return state.position == batches
            # Let go before the next batch is gathered, so that it takes the same, warm memory.
            state.batch = None
            del batch, output
        return True

    def _measuring(self, data: Data) -> Measuring:
        val = None if self.task.unmeasured else data.val
        return Measuring(self.config, val, data.train if self.to_optimum else None)

    def _step(self, state: TrainState, train: Split) -> UpdateStep:
        """One update by the task's loss, or by the caller's own step."""
        if self.own.training_step is None:
            step = UpdateStep(state, self.config, self._hooks, train)
            state.redo = step.redo if self.config.accumulate == 1 else None
            return step
        return OwnStep(state, self.config, self._hooks, train, self.own.training_step)

    def _measure_on_the_way(self, state: TrainState, measuring: Measuring) -> None:
        """Measure between two ends of passes, and tell."""
        with state.averaged():
            measuring.on_the_way(state)
            self._call("on_evaluation", state)

    def _begin_epoch(self, state: TrainState, loader: Loader, step: UpdateStep) -> None:
        """Tell, and compile before the first: callbacks have then decided which parts learn."""
        self._call("on_epoch_start", state)
        if self.config.compile and not state.compile_seconds:
            state.compile_seconds = step.compile(loader, self._batch_changes)

    def _agree_to_stop(self, state: TrainState) -> None:
        """One rank's reason to stop is every rank's."""
        if self.ranks.any(bool(state.stop_reason)) and not state.stop_reason:
            state.cut_short("another process received a stop signal")

    def _own_callbacks(self, model: nn.Module, data: Data) -> Regularizers:
        """What the settings ask for beside the steps."""
        first, last = regularizing_callbacks(self.config, self.seed, data.spec, model)
        if self.config.carry_state:
            first.append(CarryState(model, pace_of(self.config, data.train).batch_size))
        return Regularizers(first, last)

    def _loader(self, data: Data) -> Loader:
        train = data.train
        pace = pace_of(self.config, train)
        if isinstance(train, SourceSplit) and train.batches is None:
            train = train.changed(batches=pace.updates * self.config.accumulate)
        ranks = self.ranks
        return build_loader(
            train,
            pace.batch_size,
            seed=self.seed,
            shuffle=not self.to_optimum,
            rank=ranks.rank,
            world=ranks.world,
            workers=self.config.workers,
            lanes=self.config.carry_state,
            lengths=Lengths.of(train, data.spec) if self.config.by_length else None,
        )

    def _call(self, event: str, state: TrainState) -> None:
        for hook in self._hooks[event]:
            hook(state)
