"""Runs with an optimizer, groups or a schedule of one's own: they learn, and go on exactly."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim import SGD, Adam, NAdam
from torch.optim.lr_scheduler import CosineAnnealingLR, ExponentialLR, OneCycleLR, ReduceLROnPlateau

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from tests.repetition import slow_but
from tests.train.toy_runs import FEATURES, OUTPUTS, assert_same, copy_of, toy_data, toy_net

SHORT: dict[str, Any] = {"epochs": 3, "batch_size": 8, "device": "cpu", "quiet": True}


class TwoParts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        with seeded(0):
            self.body, self.head = nn.Linear(FEATURES, 4), nn.Linear(4, OUTPUTS)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(self.body(x).relu())
        return logits


def slow_head(net: nn.Module) -> list[dict[str, Any]]:
    body, head = net.children()
    return [{"params": list(body.parameters())}, {"params": list(head.parameters()), "lr": 1e-4}]


CASES: dict[str, Callable[[nn.Module], dict[str, Any]]] = {
    "class": lambda net: {"optimizer": NAdam, "lr": 0.01},
    "partial": lambda net: {"optimizer": partial(SGD, lr=0.1, momentum=0.9)},
    "function": lambda net: {"optimizer": lambda parameters: Adam(parameters, lr=0.1)},
    "instance": lambda net: {"optimizer": SGD(net.parameters(), lr=0.1, momentum=0.9)},
    "one for each child": lambda net: {
        "optimizer": {"body": partial(Adam, lr=0.1), "head": partial(SGD, lr=0.1, momentum=0.9)},
        "clip_norm": 1.0,
    },
    "groups": lambda net: {"parameter_groups": slow_head, "lr": 0.1},
    "groups of a class": lambda net: {"optimizer": Adam, "parameter_groups": slow_head},
    "schedule": lambda net: {"schedule": partial(CosineAnnealingLR, T_max=3), "lr": 0.1},
    "schedule by update": lambda net: {
        "optimizer": {"body": Adam, "head": Adam},
        "schedule": partial(OneCycleLR, max_lr=0.1, total_steps=60),
    },
    "plateau": lambda net: {"schedule": partial(ReduceLROnPlateau, patience=0)},
    "instances of both": lambda net: {
        "optimizer": (own := SGD(net.parameters(), lr=0.1)),
        "schedule": ExponentialLR(own, 0.5),
    },
}
QUICK = ["one for each child", "instance", "schedule by update"]


@pytest.mark.parametrize("name", slow_but(QUICK, CASES))
def test_it_goes_on_exactly(tmp_path: Path, name: str) -> None:
    data, give = toy_data(rows=40), CASES[name]
    one, two, three = TwoParts(), TwoParts(), TwoParts()
    whole = nw.fit(one, data, out=tmp_path / "whole", **give(one), **SHORT)
    nw.fit(two, data, out=tmp_path / "parts", max_steps=8, **give(two), **SHORT)
    again = nw.fit(three, data, out=tmp_path / "parts", resume="auto", **give(three), **SHORT)
    assert_same(copy_of(three), copy_of(one))
    assert again.results["metrics"] == whole.results["metrics"]
    assert whole.history.latest("train/loss") < 1.2


def test_the_same_optimizer_gives_the_same_run_whether_it_has_a_name_or_not() -> None:
    data, named, own = toy_data(rows=40), toy_net(), toy_net()
    nw.fit(named, data, optimizer="sgd", lr=0.1, kernel="foreach", save=False, **SHORT)
    nw.fit(own, data, optimizer=partial(SGD, foreach=True), lr=0.1, save=False, **SHORT)
    assert_same(copy_of(own), copy_of(named))


def test_a_convex_model_is_trained_by_the_optimizer_that_is_given() -> None:
    run = nw.fit("softmax", toy_data(rows=40), optimizer=SGD, lr=0.1, save=False, **SHORT)
    assert run.config["own"] == {"optimizer": "SGD"}
    assert run.config["train"]["optimizer"] is None
    assert run.results["epochs"] == 3


def test_groups_have_their_rates_and_a_schedule_moves_them() -> None:
    rates: list[list[float]] = []
    nw.fit(
        TwoParts(),
        toy_data(rows=40),
        optimizer=partial(SGD, lr=0.1),
        parameter_groups=slow_head,
        schedule=partial(ExponentialLR, gamma=0.5),
        callbacks={
            "on_epoch_start": lambda s: rates.append([g["lr"] for g in s.optimizer.param_groups])
        },
        save=False,
        **SHORT,
    )
    assert rates == [[0.1, 1e-4], [0.05, 5e-5], [0.025, 2.5e-5]]


def test_another_optimizer_is_another_run(tmp_path: Path) -> None:
    nw.fit(toy_net(), toy_data(), optimizer=SGD, out=tmp_path / "run", max_steps=2, **SHORT)
    with pytest.raises(ConfigError, match="own_optimizer was SGD, is Adam"):
        nw.fit(toy_net(), toy_data(), optimizer=Adam, resume=tmp_path / "run", **SHORT)
    changed = nw.fit(
        toy_net(),
        toy_data(),
        optimizer=Adam,
        resume=tmp_path / "run",
        allow="own_optimizer",
        **SHORT,
    )
    assert changed.results["finished"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"optimizer": SGD, "penalize": "weights"}, "penalize is not supported with your own opt"),
        ({"schedule": partial(ExponentialLR, gamma=0.5), "warmup": 3}, "warmup is not supported"),
        ({"optimizer": {"0": SGD, "3": SGD}, "l2": 0.1}, "l2 is for one optimizer"),
    ],
    ids=str,
)
def test_settings_that_would_have_no_part_are_refused(given: Any, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        nw.fit(toy_net(), toy_data(), save=False, **given, **SHORT)


def test_the_loop_alone_is_public() -> None:
    """The example of `nw.Trainer`."""
    data = toy_data(rows=40)
    trainer = nw.Trainer(nw.TrainConfig(epochs=2, device="cpu"), nw.train.task_for(data))
    state = trainer.start(toy_net(), data)
    trainer.fit(state, data)
    assert len(state.history.series("val/accuracy")) == 2
    assert issubclass(nw.Callback, object)
    assert torch.isfinite(state.loss)
