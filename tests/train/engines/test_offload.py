"""Shards that wait on the host learn what those on the device learn."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.fsdp import CPUOffloadPolicy, OffloadPolicy, fully_shard
from torch.distributed.tensor import DTensor

from netwright.core.errors import ConfigError, RunError
from netwright.core.seeding import seeded
from netwright.models.catalog import MODELS
from netwright.train import building
from netwright.train.callback import Callback
from netwright.train.callbacks import non_finite
from netwright.train.callbacks.doctor import Doctor
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
from netwright.train.callbacks.step_rows import StepRows, gradient_norm
from netwright.train.engines import sharded
from netwright.train.engines.engine import Engine
from netwright.train.engines.sharded import ShardedEngine
from netwright.train.noise import noise_like, stream_on
from netwright.train.ranks import ALONE, joined
from netwright.train.saving.checkpoint import load_checkpoint
from netwright.train.saving.checkpoint_store import newest_good
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.tasks.catalog import task_for
from netwright.train.trainer import Trainer
from netwright.train.watching.layer_norms import LayerNorms
from tests.repetition import for_each
from tests.train.engines.sharded_runs import (
    Life,
    assert_equal,
    assert_near,
    data_for,
    live,
    run_ranks,
)
from tests.train.toy_runs import toy_data, toy_net, toy_trainer

SETTINGS: dict[str, Any] = {"clip_norm": 0.05, "average": "exponential", "l2": 0.01}
NOISE: dict[str, Any] = {"gradient_noise": 0.01, "weight_noise": 0.01, "l1": 0.01}
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")


def live_waiting(life: Life, out: Path) -> None:
    """The work of one rank whose shards may wait on the host of a CPU."""
    building.OFFLOADED = ("cpu",)
    live(life, out)


def live_two(life: Life, out: Path) -> list[dict[str, Any]]:
    """What came of two ranks."""
    place = out / f"notes-{len(list(out.glob('notes-*')))}"
    place.mkdir()
    run_ranks(place, 2, live_waiting, life, place)
    return [torch.load(place / f"outcome-{rank}") for rank in range(2)]


@pytest.fixture
def anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards may wait on the host of a CPU, too: the same code, and copies of nothing."""
    monkeypatch.setattr(building, "OFFLOADED", ("cuda", "cpu"))


@pytest.fixture
def group() -> Iterator[None]:
    """A process group of this process alone."""
    with joined(60.0, shards=True):
        yield


@pytest.mark.parametrize("settings", [SETTINGS, pytest.param(NOISE, marks=pytest.mark.slow)])
def test_shards_on_the_host_learn_the_same_bits(tmp_path: Path, settings: dict[str, Any]) -> None:
    plain, waiting = (
        live_two(Life(model="mlp", settings={**settings, **more}), tmp_path)
        for more in ({}, {"offload": True})
    )
    for one, other in zip(plain, waiting, strict=True):
        assert_equal(one, other)


@pytest.mark.slow
def test_batches_of_one_update_are_added_up_on_the_host(tmp_path: Path) -> None:
    life = {"accumulate": 3, "max_steps": 20}
    plain, waiting = (
        live_two(Life(model="gpt", settings={**life, **more}), tmp_path)
        for more in ({}, {"offload": True})
    )
    assert_near(plain[0], waiting[0])


def test_a_run_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    settings: dict[str, Any] = {**SETTINGS, "offload": True, "max_steps": 20}
    whole = live_two(Life(model="mlp", settings=settings), tmp_path)
    folder = tmp_path / "run"
    folder.mkdir()
    for stop in (9, 50):
        life = Life(model="mlp", settings=settings, folder=folder, stop=stop)
        parts = live_two(life, tmp_path)
    for one, other in zip(whole, parts, strict=True):
        for name, weight in one["weights"].items():
            assert torch.equal(weight, other["weights"][name]), name


class Places(Callback):
    """Notes where tensors of the run are, and how often gradients were summed up to an update."""

    def __init__(self) -> None:
        self.found: set[tuple[str, str]] = set()

    def on_before_update(self, state: TrainState) -> None:
        for weight in state.learned_weights():
            assert isinstance(weight, DTensor) and isinstance(weight.grad, DTensor)
            self.found |= {("weight", weight.device.type), ("gradient", weight.grad.device.type)}

    def on_step_end(self, state: TrainState) -> None:
        for kept in state.optimizer.state.values():
            moments = (part for part in kept.values() if isinstance(part, DTensor))
            self.found |= {("moment", part.to_local().device.type) for part in moments}
        self.found |= {("buffer", buffer.device.type) for buffer in state.model.buffers()}


@pytest.mark.usefixtures("group")
def test_torch_is_told_to_keep_the_parts_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[OffloadPolicy] = []
    plain = fully_shard

    def watched(part: Any, **settings: Any) -> Any:
        told.append(settings["offload_policy"])
        return plain(part, **settings)

    monkeypatch.setattr("netwright.train.engines.sharded.fully_shard", watched)
    cpu = torch.device("cpu")
    ShardedEngine(ALONE).place(toy_net(), cpu)
    assert {type(policy) for policy in told} == {OffloadPolicy}
    told.clear()
    ShardedEngine(ALONE, offload=True).place(toy_net(), cpu)
    assert told and all(policy == CPUOffloadPolicy(pin_memory=False) for policy in told)
    waiting = sharded._waiting(torch.device("cuda"))
    assert waiting == CPUOffloadPolicy(pin_memory=True)


@pytest.mark.usefixtures("group")
def test_gradients_of_each_batch_are_summed_where_they_wait_on_the_host() -> None:
    cpu = torch.device("cpu")
    for offload in (False, True):
        engine = ShardedEngine(ALONE, offload=offload)
        model = engine.place(toy_net(), cpu)
        engine.begin_batch(model, last=False)
        model(torch.ones(2, 3)).sum().backward()
        gradients = [weight.grad is not None for weight in model.parameters()]
        assert all(gradients) if offload else not any(gradients)


def test_without_shards_on_cuda_it_is_refused() -> None:
    for parallel in ("auto", "replicate"):
        with pytest.raises(ConfigError, match=f"offload needs parallel=shard, got {parallel}"):
            TrainConfig(offload=True, parallel=parallel)
    with pytest.raises(ConfigError, match="offload needs parallel=shard"):
        Engine(ALONE, offload=True)
    trainer = toy_trainer(toy_data(), device="cpu", parallel="shard", offload=True)
    for refused in (trainer.start, trainer.rehearse):
        with pytest.raises(ConfigError, match="offload needs a CUDA device, got cpu: set offload"):
            refused(toy_net(), toy_data())


@pytest.mark.usefixtures("anywhere")
def test_a_rehearsal_needs_no_group() -> None:
    trainer = toy_trainer(toy_data(), device="cpu", parallel="shard", offload=True)
    assert not trainer.rehearse(toy_net(), toy_data()).engine.offload


def test_numbers_of_the_host_and_of_the_device_meet() -> None:
    # Tensors without numbers, which know on which device they would be; most are not to be mixed.
    with FakeTensorMode():
        loss = torch.zeros((), device="cuda")
        net = toy_net()
        weights = list(net.parameters())
        for weight in weights:
            weight.grad = torch.ones_like(weight)
        norms = LayerNorms(net)
        norms.take_gradients()
        assert norms.take_step(loss).device.type == "cuda"
        state: Any = type("State", (), {"engine": Engine(), "device": loss.device})()
        state.whole_gradients = lambda: [weight.grad for weight in weights]
        norm = gradient_norm(state)
        assert norm is not None and norm.device.type == "cuda"
    noise = noise_like([torch.zeros(2)], stream_on(torch.device("cpu"), 0, "noise"))
    assert noise[0].device.type == "cpu"


class OnDevice(Tensor):
    """A loss of a device that is not the host."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return torch.device("cuda")


@for_each("bad", [None, torch.nan, torch.inf])
def test_gradients_on_the_host_are_looked_at_there(bad: float | None) -> None:
    loss = torch.zeros(()).as_subclass(OnDevice)
    grads = [torch.ones(3), torch.ones(2)]
    if bad is not None:
        grads[1][0] = bad
    assert non_finite._is_finite(loss, grads) == (bad is None)


def train(
    steps: int, folder: Path | None = None, *, last: int = 20, calls: Any = (), **settings: Any
) -> tuple[dict[str, Tensor], TrainState]:
    """A tiny gpt on the GPU, by one process; its weights on the host."""
    data = data_for("gpt")
    kind, sizes = MODELS.load("gpt"), dict[str, Any](layers=3, heads=2, width=16, dropout=0.0)
    with seeded(0):
        model = kind.build(kind.settings(**sizes), data.spec)
    config = TrainConfig(
        **{
            **{"max_steps": last, "batch_size": 8, "lr": 0.01, "device": "cuda"},
            **{"parallel": "shard", "clip_norm": 1.0, "average": "exponential", **settings},
        }
    )
    policy = config.on_non_finite
    watched: list[Callback] = [GuardNonFinite(policy), StepRows(5), Doctor()]
    saving = [] if folder is None else [SaveCheckpoints(folder, watched=watched, every_steps=3)]
    trainer = Trainer(config, task_for(data), callbacks=[*calls, *watched, *saving, Stop(steps)])
    state = trainer.start(model, data)
    found = None if folder is None else newest_good(folder)[0]
    if found is not None:
        load_checkpoint(found, state, watched)
    trainer.fit(state, data)
    return {name: part.cpu() for name, part in model.state_dict().items()}, state


class Stop(Callback):
    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, state: TrainState) -> None:
        if state.step == self.step and not state.is_whole:
            state.cut_short("stop")


class Poison(Callback):
    """Makes one gradient of the fourth batch infinite."""

    def on_before_update(self, state: TrainState) -> None:
        if (state.epoch, state.position) == (0, 4):
            state.whole_gradients()[0].fill_(torch.inf)


@needs_cuda
@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("more", [{}, {"accumulate": 2}, {"precision": "bf16-mixed"}, NOISE])
@pytest.mark.parametrize("optimizer", ["momentum", "adamw"])
def test_on_cuda_the_host_learns_what_the_device_does(more: dict[str, Any], optimizer: str) -> None:
    places = Places()
    waiting, state = train(20, offload=True, calls=[places], optimizer=optimizer, **more)
    wanted = {(name, "cpu") for name in ("weight", "gradient", "moment")}
    assert wanted <= places.found <= wanted | {("buffer", "cuda")}
    assert all(weight.to_local().is_pinned() for weight in state.learned_weights())  # type: ignore[attr-defined]
    assert all(bool(weight.isfinite().all()) for weight in waiting.values())
    if "gradient_noise" in more:  # other generators draw other numbers
        return
    plain, by_device = train(20, optimizer=optimizer, **more)
    if optimizer == "momentum":  # Adam makes as much of the last bits of a gradient that is 0
        near = 1e-2 if "precision" in more else 1e-5
        for name, weight in plain.items():
            torch.testing.assert_close(waiting[name], weight, rtol=0, atol=near)
    rows = [
        [row.value for row in one.history if row.key == "train/loss"] for one in (state, by_device)
    ]
    assert rows[0] == pytest.approx(rows[1], rel=1e-2)


@needs_cuda
@pytest.mark.usefixtures("group")
def test_on_cuda_a_run_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    whole, _ = train(20, offload=True)
    train(10, tmp_path, offload=True)
    resumed, state = train(20, tmp_path, offload=True)
    assert all(weight.device.type == "cpu" for weight in state.learned_weights())
    for name, weight in whole.items():
        assert torch.equal(weight, resumed[name]), name


@needs_cuda
@pytest.mark.usefixtures("group")
def test_on_cuda_a_bad_batch_is_refused_or_left_out() -> None:
    with pytest.raises(RunError, match=r"the loss is finite, the gradient of '.*' is not"):
        train(20, offload=True, calls=[Poison()])
    weights, state = train(20, offload=True, calls=[Poison()], on_non_finite="skip")
    assert state.passed_over == [(0, 3)] and state.step == 20
    assert all(bool(weight.isfinite().all()) for weight in weights.values())
