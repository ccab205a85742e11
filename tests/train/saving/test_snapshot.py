"""A snapshot brings a run back to its moment, as often as it is asked to."""

import random
from typing import Any

import numpy as np
import torch

from netwright.core.seeding import seeded
from netwright.core.trees import map_tensors
from netwright.data.dataset import Data
from netwright.train.callback import Callback
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.saving.snapshot import Snapshot
from netwright.train.state import TrainState
from netwright.train.trainer import Trainer
from tests.repetition import for_each
from tests.train.toy_runs import assert_same, toy_data, toy_net, toy_trainer

KINDS: dict[str, dict[str, Any]] = {
    "adam": {"schedule": "cosine"},
    "momentum": {"optimizer": "momentum", "schedule": "linear", "warmup": 3},
    "lbfgs": {"optimizer": "lbfgs", "optimizer_options": {"max_iter": 2}},
    "float16": {"precision": "fp16-mixed"},
}


class StopAt(Callback):
    """Ends a run after so many examples."""

    samples = 0

    def on_batch_end(self, state: TrainState) -> None:
        if state.samples == self.samples:
            state.stop_reason = "enough"


def everything(state: TrainState, early: EarlyStopping) -> dict[str, Any]:
    """All that moves, as one tree."""
    scaler = None if state.scaler is None else state.scaler.state_dict()
    return {
        "model": state.model.state_dict(),
        "gradients": [weight.grad for weight in state.model.parameters()],
        "optimizer": state.optimizer.state_dict(),
        "schedule": state.schedule.state_dict(),
        "scaler": scaler,
        "running": state.running.state_dict(),
        "counts": [state.epoch, state.position, state.accumulated, state.step, state.samples],
        "rows": len(state.history),
        "early": early.state_dict(),
    }


def copied(tree: Any) -> Any:
    """The tree as it is now: a state's own tensors move on."""
    return map_tensors(lambda tensor: tensor.detach().clone(), tree)


class Run:
    """A run that can be moved on by hand: 5 batches an epoch."""

    def __init__(self, **settings: Any) -> None:
        self.early, self.stop = EarlyStopping(restore_best=False), StopAt()
        self.data: Data = toy_data()
        calls = [self.early, self.stop]
        self.trainer: Trainer = toy_trainer(self.data, callbacks=calls, **settings)
        self.state = self.trainer.start(toy_net(batch_norm=True, dropout=0.3), self.data)

    def move_on(self, samples: int) -> dict[str, Any]:
        self.stop.samples, self.state.stop_reason = samples, ""
        self.trainer.fit(self.state, self.data)
        return everything(self.state, self.early)

    def snapshot(self) -> Snapshot:
        return Snapshot.of(self.state, [self.early])

    def restore(self, snapshot: Snapshot) -> None:
        snapshot.restore(self.state, [self.early])


@for_each("kind", KINDS)
def test_everything_that_moves_comes_back_and_takes_the_same_way_again(kind: str) -> None:
    run = Run(**KINDS[kind])
    run.move_on(28)
    snapshot = run.snapshot()
    before = copied(everything(run.state, run.early))
    ends = []
    for _ in range(2):
        ends.append(copied(run.move_on(60)))
        assert run.state.samples == 60
        run.restore(snapshot)
        assert_same(everything(run.state, run.early), before)
    assert_same(ends[1], ends[0])


def test_the_generators_come_back() -> None:
    run = Run()

    def draws() -> list[float]:
        return [random.random(), float(np.random.rand()), torch.rand(()).item()]

    with seeded(3):
        snapshot = run.snapshot()
        first = draws()
        assert draws() != first
        run.restore(snapshot)
        assert draws() == first


def test_gradients_that_wait_come_back_and_others_go() -> None:
    run = Run(accumulate=2)
    run.move_on(20)
    empty = run.snapshot()
    waiting = copied(run.move_on(24)["gradients"])
    assert run.state.accumulated == 1
    assert all(grad is not None for grad in waiting)
    snapshot = run.snapshot()
    run.restore(empty)
    assert [weight.grad for weight in run.state.model.parameters()] == [None] * len(waiting)
    run.restore(snapshot)
    assert_same([weight.grad for weight in run.state.model.parameters()], waiting)


def test_what_happens_later_does_not_reach_into_a_snapshot() -> None:
    run = Run()
    run.move_on(20)
    snapshot = run.snapshot()
    before = copied([snapshot.state, snapshot.callbacks])
    run.move_on(60)
    run.restore(snapshot)
    run.move_on(60)
    assert_same([snapshot.state, snapshot.callbacks], before)
