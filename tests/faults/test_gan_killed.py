"""A run with two optimizers, killed at random: also between the two updates of one batch."""

import os
import random
import signal
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.optim import SGD, Adam

from netwright.core.seeding import seeded
from netwright.data.loading.loader import Batch
from netwright.recipes.fitting.fit import fit
from netwright.train.callback import FunctionCallback
from netwright.train.own.optimizer_group import OptimizerGroup
from netwright.train.own_step import Turns
from netwright.train.state import TrainState
from tests.faults.scenario import Figures, Scenario
from tests.faults.small_runs import left_behind
from tests.forked_ranks import FORKS

KILLS, EPOCHS, STEPS = 10, 2, 34
NOISE, PIXELS = 4, 64
EVENTS = ("on_batch_start", "on_before_update", "on_step_end")
TOO_LONG = 600.0  # seconds


class Gan(nn.Module):
    """A generator with batch statistics and a discriminator with dropout."""

    def __init__(self) -> None:
        super().__init__()
        with seeded(0):
            self.generator = nn.Sequential(
                nn.Linear(NOISE, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, PIXELS)
            )
            self.discriminator = nn.Sequential(
                nn.Linear(PIXELS, 16), nn.LeakyReLU(0.2), nn.Dropout(0.2), nn.Linear(16, 1)
            )


def wrong_by(logits: Tensor, truth: float) -> Tensor:
    return binary_cross_entropy_with_logits(logits, torch.full_like(logits, truth))


def training_step(gan: Gan, batch: Batch) -> Turns:
    real = batch.inputs.flatten(1)
    fake = gan.generator(torch.randn(len(real), NOISE))
    seen = wrong_by(gan.discriminator(real), 1.0)
    yield "discriminator", seen + wrong_by(gan.discriminator(fake.detach()), 0.0)
    yield "generator", wrong_by(gan.discriminator(fake), 1.0)


def kill(at: int, event: str) -> FunctionCallback:
    """The power fails at the so many-th event of this process; within a batch there are two."""
    seen = count(1)

    def fail(state: TrainState) -> None:
        if next(seen) == at:
            os.kill(os.getpid(), signal.SIGKILL)

    return FunctionCallback(event, fail)


def learn(folder: Path, *callbacks: FunctionCallback, **settings: Any) -> Gan:
    """What each process does: begin in this folder, or go on."""
    gan = Gan()
    fit(
        gan,
        "digits",
        training_step=training_step,
        optimizer={
            "generator": partial(Adam, lr=1e-3),
            "discriminator": partial(SGD, lr=1e-2, momentum=0.9),
        },
        callbacks=callbacks,
        out=folder,
        resume="auto",
        **{
            "epochs": EPOCHS,
            "batch_size": 64,
            "clip_norm": 1.0,
            "schedule": "cosine",
            "save_steps": 2,
            "log_every": 1,
            "device": "cpu",
            "quiet": True,
            **settings,
        },
    )
    return gan


def learn_until(folder: Path, at: int, event: str) -> None:
    """In a process of its own, which it ends."""
    learn(folder, kill(at, event))


def measure(folder: Path, kills: int = KILLS) -> Figures:
    """Compare the end with that of a run that was not killed."""
    chance, landed = random.Random(0), 0
    learn(folder / "whole")
    for _ in range(kills):
        event = chance.choice(EVENTS)
        at = chance.randint(3, 6)  # so that each process saves something, and none comes to the end
        process = FORKS.Process(target=learn_until, args=(folder / "run", at, event))
        process.start()
        process.join(TOO_LONG)
        landed += process.exitcode == -signal.SIGKILL
    learn(folder / "run")
    same = left_behind(folder / "run") == left_behind(folder / "whole")
    return Figures(n=1, passed=int(same), counts={"kills landed": landed})


SCENARIO = Scenario(
    code="T35", title="Two optimizers are killed", measure=measure, least={"kills landed": KILLS}
)


@pytest.mark.slow
def test_two_optimizers_killed_ten_times_end_bit_for_bit(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures


def test_two_optimizers_stopped_in_an_epoch_go_on_exactly(tmp_path: Path) -> None:
    short = {"epochs": 1, "batch_size": 256}
    learn(tmp_path / "whole", **short)
    learn(tmp_path / "run", max_steps=3, **short)
    learn(tmp_path / "run", **short)
    assert left_behind(tmp_path / "run") == left_behind(tmp_path / "whole")


def test_planted_bug_a_state_of_one_optimizer_alone_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the momentum of the second optimizer is forgotten, the runs end differently."""
    load = OptimizerGroup.load_state_dict

    def forget(group: OptimizerGroup, saved: Any) -> None:
        load(group, saved)
        for weight in group.weights("discriminator"):
            group.state[weight]["momentum_buffer"] = torch.zeros_like(weight)

    monkeypatch.setattr(OptimizerGroup, "load_state_dict", forget)
    short = {"epochs": 1, "batch_size": 256}
    learn(tmp_path / "whole", **short)
    learn(tmp_path / "run", max_steps=3, **short)
    learn(tmp_path / "run", **short)
    assert left_behind(tmp_path / "run") != left_behind(tmp_path / "whole")
