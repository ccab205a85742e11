"""Learning by gradients with a run folder: best weights, patience, Ctrl-C, and what is refused."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.data.catalog import SOURCES
from netwright.data.dataset import Data
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.gradient_fit import gradient_fit
from netwright.recipes.fitting.prepared import RunContext
from netwright.train.callback import Callback
from netwright.train.state import TrainState
from netwright.train.tasks.catalog import task_for


class SignalAt(Callback):
    """Sends the process a signal after a step."""

    def __init__(self, step: int, number: int = signal.SIGINT) -> None:
        self.step, self.number = step, number

    def on_step_end(self, state: TrainState) -> None:
        if state.step == self.step:
            os.kill(os.getpid(), self.number)


@pytest.fixture(scope="module")
def moons() -> Data:
    source = SOURCES.load("moons")
    return source.load(source.config())


def test_the_best_weights_are_kept(moons: Data, tmp_path: Path) -> None:
    """A learning rate that grows worse and worse: the first epochs are the best."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    prepared = prepare(model, moons, epochs=12, optimizer="sgd", lr=30.0, device="cpu")
    outcome = gradient_fit(prepared, RunContext(folder=tmp_path, quiet=True))
    losses = outcome.history.series("val/loss")
    assert outcome.best_epoch == losses.index(min(losses)) + 1 < 12
    from netwright.train.evaluate import measure_quickly

    assert moons.val is not None
    kept = measure_quickly(model, moons.val, task_for(moons))["loss"]
    assert kept == pytest.approx(min(losses), rel=1e-6)


def test_patience_needs_validation_rows(moons: Data) -> None:
    without = replace(moons, val=None)
    with pytest.raises(ConfigError, match="but moons has no val split: set val_size, or mon"):
        prepare(nn.Linear(2, 2), without, patience=1)


@pytest.mark.parametrize(
    ("number", "kind", "code"), [(signal.SIGINT, KeyboardInterrupt, 130), (15, SystemExit, 143)]
)
def test_a_signal_ends_the_step_saves_and_is_raised(
    tmp_path: Path, number: int, kind: type[BaseException], code: int
) -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(kind) as caught:
        nw.fit(
            "mlp",
            "moons",
            hidden=(4,),
            epochs=50,
            out=tmp_path / "run",
            callbacks=[SignalAt(40, number)],
            quiet=True,
        )
    assert signal.getsignal(signal.SIGINT) is before
    if code == 143:
        assert isinstance(caught.value, SystemExit)
        assert caught.value.code == 143
    run = nw.open_run(tmp_path / "run")
    assert run.results["status"].startswith("interrupted by SIG")
    last = json.loads((tmp_path / "run" / "last.json").read_text())["checkpoint"]
    assert last == "step-000040"
    assert run.evaluate()["accuracy"] > 0.5
