"""Watching convergence: it stops at the optimum, stays stopped, and else says what is left."""

import pytest
from torch import nn

from netwright.train.callbacks.watch_convergence import WatchConvergence
from netwright.train.settings import TrainConfig
from netwright.train.tasks.catalog import task_for
from netwright.train.trainer import Trainer
from netwright.train.watching.convergence import CONVERGED
from tests.train.toy_runs import FEATURES, OUTPUTS, toy_data


def watched(optimizer: str, *, stops: bool, epochs: int = 50) -> tuple[WatchConvergence, Trainer]:
    config = TrainConfig(device="cpu", optimizer=optimizer, epochs=epochs, l2=0.1)
    data = toy_data(rows=60)
    watch = WatchConvergence(data.train, config, stops=stops)
    return watch, Trainer(config, task_for(data, config), callbacks=[watch])


def test_it_stops_at_the_optimum_and_stays_stopped() -> None:
    watch, trainer = watched("lbfgs", stops=True)
    data, model = toy_data(rows=60), nn.Linear(FEATURES, OUTPUTS)
    state = trainer.start(model, data)
    trainer.fit(state, data)
    assert (state.stop_reason, state.is_cut_short) == ("converged", False)
    assert 1 <= state.epoch < 50
    assert watch.left is None
    epoch, state.stop_reason = state.epoch, ""
    trainer.fit(state, data)
    assert (state.stop_reason, state.epoch) == ("converged", epoch)


@pytest.mark.parametrize("stops", [True, False])
def test_what_is_left_is_told_of_a_run_that_went_through_its_epochs(stops: bool) -> None:
    watch, trainer = watched("sgd", stops=stops, epochs=2)
    data, model = toy_data(rows=60), nn.Linear(FEATURES, OUTPUTS)
    state = trainer.start(model, data)
    trainer.fit(state, data)
    assert (state.stop_reason, state.epoch) == ("", 2)
    assert watch.left is not None
    assert watch.left > CONVERGED
