"""Frozen parts: the same function bit for bit, whatever else is at work; and when they learn."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.train.callback import Callback
from netwright.train.callbacks.freeze_parts import FreezeParts
from netwright.train.saving.checkpoint import load_checkpoint, save_checkpoint
from netwright.train.state import TrainState
from tests.repetition import for_each
from tests.train.toy_runs import assert_same, copy_of, toy_data, toy_fit, toy_start, toy_trainer

STEPPING = [name for name in OPTIMIZERS if not OPTIMIZERS.load(name).closure]
EVERYTHING: dict[str, Any] = {
    "weight_decay": 0.1,
    "l2": 0.1,
    "clip_norm": 1.0,
    "weight_noise": 0.1,
    "gradient_noise": 0.1,
    "average": "exponential",
    "average_decay": 0.5,
}


class Block(nn.Module):
    """A part of several layers."""

    def __init__(self) -> None:
        super().__init__()
        self.dense, self.norm, self.drop = nn.Linear(6, 6), nn.BatchNorm1d(6), nn.Dropout(0.4)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.drop(self.norm(self.dense(x)).tanh())
        return out


def deep_net() -> nn.Sequential:
    """Three parts, the last two with a norm; layers without weights have statistics, or drop."""
    with seeded(0):
        return nn.Sequential(
            nn.Linear(3, 6),
            nn.BatchNorm1d(6, affine=False),
            nn.Tanh(),
            nn.Dropout(0.4),
            Block(),
            nn.BatchNorm1d(6),
            nn.Linear(6, 3),
            nn.BatchNorm1d(3),
        )


def changed(net: nn.Module) -> list[str]:
    before, after = copy_of(deep_net()), copy_of(net)
    return [name for name in before if not torch.equal(before[name], after[name])]


@for_each("optimizer", STEPPING)
def test_frozen_weights_and_statistics_stay_bit_for_bit(optimizer: str) -> None:
    net, size = deep_net(), 20 if optimizer == "gradient-descent" else 4
    toy_fit(net, toy_data(), optimizer=optimizer, batch_size=size, freeze="4", **EVERYTHING)
    assert changed(net)
    assert all(name.startswith(("6.", "7.")) for name in changed(net))
    assert {"6.weight", "7.running_mean"} <= set(changed(net))


@pytest.mark.parametrize("settings", [{"accumulate": 2}, {"precision": "bf16-mixed"}])
def test_also_with_accumulated_gradients_and_in_half_precision(settings: dict[str, Any]) -> None:
    net = deep_net()
    toy_fit(net, toy_data(), freeze="4", **EVERYTHING, **settings)
    assert {name[0] for name in changed(net)} == {"6", "7"}


class Look(Callback):
    """Notes in every epoch what learns, and what is in training mode."""

    def __init__(self) -> None:
        self.learning: list[list[str]] = []
        self.training: list[list[str]] = []

    def on_batch_end(self, state: TrainState) -> None:
        net, names = state.model, "01457"
        with_grad = {name[0] for name, weight in net.named_parameters() if weight.requires_grad}
        self.learning.append(sorted(with_grad))
        parts = dict(net.named_children())
        self.training.append([name for name in names if parts[name].training])


def test_parts_join_from_the_last_to_the_first_and_measuring_leaves_their_modes() -> None:
    net, look = deep_net(), Look()
    whole = {"batch_size": 20, "epochs": 7}
    toy_fit(net, toy_data(), freeze="4", unfreeze_every=2, callbacks=[look], **whole)
    late, joined = ["6", "7"], ["4", "5", "6", "7"]
    assert look.learning == [late] * 2 + [joined] * 2 + [["0", *joined]] * 3
    middle = ["1", "4", "5", "7"]
    assert look.training == [["7"]] * 2 + [middle] * 2 + [["0", *middle]] * 3


def test_how_many_are_frozen_follows_from_the_epoch_alone() -> None:
    freeze = FreezeParts(deep_net(), "4", every=3)
    assert [freeze.count(epoch) for epoch in range(8)] == [2, 2, 2, 1, 1, 1, 0, 0]
    assert FreezeParts(deep_net(), "4").count(10**6) == 2


@for_each("optimizer", STEPPING)
def test_with_every_optimizer_all_parts_learn_in_the_end(optimizer: str) -> None:
    net, size = deep_net(), 20 if optimizer == "gradient-descent" else 10
    settings = {"optimizer": optimizer, "batch_size": size, "epochs": 4}
    toy_fit(net, toy_data(), freeze="4", unfreeze_every=1, **settings)
    assert {"0.weight", "1.running_mean", "4.dense.weight", "6.weight"} <= set(changed(net))


def test_weights_are_given_back_able_to_learn_but_for_what_the_user_froze() -> None:
    net = deep_net()
    net[0].bias.requires_grad_(False)
    toy_start(net, freeze="4")
    assert sum(not weight.requires_grad for weight in net.parameters()) == 1
    toy_fit(net, toy_data(), freeze="4", unfreeze_every=1)
    assert [name for name, weight in net.named_parameters() if not weight.requires_grad] == [
        "0.bias"
    ]
    assert "0.bias" not in changed(net)
    assert "0.weight" in changed(net)


class Stop(Callback):
    def on_step_end(self, state: TrainState) -> None:
        raise RuntimeError("the roof came down")


def test_also_after_an_error() -> None:
    net = deep_net()
    with pytest.raises(RuntimeError, match="the roof came down"):
        toy_fit(net, toy_data(), freeze="4", callbacks=[Stop()])
    assert all(weight.requires_grad for weight in net.parameters())


class Diary(Callback):
    """Saves in the middle and at the end of every epoch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def on_batch_end(self, state: TrainState) -> None:
        if state.position == 3:
            save_checkpoint(self.folder / f"{state.epoch}-{state.position}", state)

    def on_epoch_end(self, state: TrainState) -> None:
        save_checkpoint(self.folder / f"{state.epoch}-0", state)


@pytest.mark.parametrize("optimizer", ["adam", "muon"])
def test_a_run_that_goes_on_while_parts_join_is_the_uninterrupted_one(
    optimizer: str, tmp_path: Path
) -> None:
    data = toy_data()
    settings: dict[str, Any] = {
        **EVERYTHING,
        "optimizer": optimizer,
        "freeze": "4",
        "unfreeze_every": 1,
        "layer_decay": 0.5,
        "penalize": "weights",
        "schedule": "cosine",
        "accumulate": 2 if optimizer == "adam" else 1,
        "epochs": 4,
    }

    def run(callbacks: list[Callback], go_on: Path | None = None) -> list[Any]:
        trainer = toy_trainer(data, callbacks=callbacks, **settings)
        state = trainer.start(deep_net(), data)
        if go_on is not None:
            load_checkpoint(go_on, state)
        trainer.fit(state, data)
        return [copy_of(state.model), state.optimizer.state_dict(), state.schedule.state_dict()]

    whole = run([Diary(tmp_path)])
    places = sorted(tmp_path.iterdir())
    assert len(places) == 8
    for place in places:
        assert_same(run([], go_on=place), whole)


def best_head(features: Tensor, targets: Tensor) -> float:
    """The least cross-entropy of any linear head on these features."""
    head = nn.Linear(features.shape[1], 3).double()
    search = torch.optim.LBFGS(head.parameters(), max_iter=2000, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        search.zero_grad()
        loss = F.cross_entropy(head(features.double()), targets)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    search.step(closure)  # type: ignore[no-untyped-call]
    return closure().item()


@pytest.mark.slow
@pytest.mark.covers("fine-tuning")
def test_a_head_alone_ends_at_its_optimum_and_unfreezing_goes_below_it() -> None:
    data = toy_data(rows=120, val=0)
    generator = torch.Generator().manual_seed(0)
    targets = torch.randint(3, (120,), generator=generator)  # no head can be sure of these
    data.train.targets.copy_(targets)
    with seeded(0):
        first = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 3))
    kept = copy_of(first)
    limit = best_head(first[:2](data.train.inputs).detach(), targets)
    settings: dict[str, Any] = {"batch_size": 120, "epochs": 200, "lr": 0.5, "schedule": "cosine"}
    head_only = toy_fit(first, data, freeze="0", **settings)
    assert head_only.history.latest("train/loss") == pytest.approx(limit, abs=0.01)
    assert all(torch.equal(kept[name], copy_of(first)[name]) for name in ("0.weight", "0.bias"))
    first.load_state_dict(kept)
    gradual = toy_fit(first, data, freeze="0", unfreeze_every=100, **settings)
    assert gradual.history.latest("train/loss") < limit - 0.05


@for_each(
    ("settings", "sentence"),
    [
        (
            {"unfreeze_every": 2},
            "unfreeze_every needs freeze: no part is frozen",
        ),
        (
            {"freeze": "0", "unfreeze_every": 2, "compile": True},
            "unfreeze_every is not supported with compile: each change would need a recompilation",
        ),
        ({"freeze": "9"}, "unknown part '9' of the model; there are 0, 3"),
        ({"freeze": "3"}, "freeze must name a part before the last one, '3', got '3'"),
    ],
)
def test_what_cannot_be_is_refused_at_the_start(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        toy_start(**settings)
