"""Sharded weights learn what replicated ones and one process learn."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from netwright.core.adapted_module import AdaptedModule
from netwright.core.errors import ConfigError, RunError
from netwright.core.seeding import seeded
from netwright.data.catalog import load
from netwright.models.catalog import MODELS
from netwright.models.transformers.gpt import GPT
from netwright.train.building import check_sharding
from netwright.train.callback import Callback
from netwright.train.callbacks.average_weights import AverageWeights
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.engines.sharded import ShardedEngine, blocks_of
from netwright.train.own.parts import NO_PARTS
from netwright.train.ranks import ALONE, joined
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.tasks.catalog import task_for
from netwright.train.trainer import Trainer
from netwright.train.updates import finite_check
from tests.repetition import for_each, slow_but
from tests.train.engines.sharded_runs import (
    MODEL_SETTINGS,
    Life,
    assert_equal,
    assert_near,
    build,
    data_for,
    live_alone,
    live_together,
    run_ranks,
)
from tests.train.token_data import KINDS
from tests.train.toy_runs import SHORT, assert_same, toy_data, toy_net, toy_trainer

CASES = [(model, world) for model in MODEL_SETTINGS for world in (2, 4)]
SETTINGS: dict[str, dict[str, Any]] = {
    "accumulated": {"accumulate": 3, "clip_norm": 0.05, "average": "exponential"},
    "regularized": {"l1": 0.01, "l2": 0.01, "clip_value": 0.01, "optimizer": "momentum"},
    "fewer rows than ranks": {"batch_size": 11},  # 45 rows: the last batch has one
}


@pytest.mark.parametrize("case", slow_but([("gpt", 2)], CASES))
def test_shards_learn_what_replicas_and_one_process_learn(
    tmp_path: Path, case: tuple[str, int]
) -> None:
    model, world = case
    alone = live_alone(Life(model=model))
    sharded = live_together(Life(model=model), tmp_path, world)
    assert_near(sharded[0], alone)
    for other in sharded[1:]:
        assert_equal(other, sharded[0])
    assert_near(live_together(Life(model=model, parallel="replicate"), tmp_path, world)[0], alone)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_settings_mean_the_same_of_shards(tmp_path: Path, name: str) -> None:
    life = Life(model="mlp", settings=SETTINGS[name])
    assert_near(live_together(life, tmp_path, 3)[0], live_alone(life))


OPTIMIZERS = ("sgd", "nesterov", "heavy-ball", "adagrad", "adadelta", "rmsprop", "nadam", "lion")


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_of_single_numbers_takes_shards(tmp_path: Path, optimizer: str) -> None:
    life = Life(model="mlp", settings={"optimizer": optimizer, "lr": 1e-3})
    assert_near(live_together(life, tmp_path, 2)[0], live_alone(life))


class Sums(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the sums of gradients over the ranks."""

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += "reduce_scatter" in str(func)
        return func(*args, **(kwargs or {}))


def count_sums(out: Path) -> None:
    """The work of one rank: how often gradients travel in updates of two batches each."""
    with joined(60.0, shards=True) as ranks:
        life = Life(model="mlp", settings={"accumulate": 2, "max_steps": 6, "eval_every": None})
        with Sums() as seen:  # type: ignore[no-untyped-call]
            life.run(ranks)
        (out / f"count-{ranks.rank}").write_text(str(seen.count))


def test_gradients_travel_once_an_update(tmp_path: Path) -> None:
    run_ranks(tmp_path, 2, count_sums, tmp_path)
    groups = 1 + len(blocks_of(build("mlp")))
    for rank in range(2):
        assert int((tmp_path / f"count-{rank}").read_text()) == 6 * groups


@pytest.fixture
def group() -> Iterator[None]:
    """A process group of this process alone."""
    with joined(60.0, shards=True) as ranks:
        assert ranks is ALONE
        assert dist.get_world_size() == 1
        yield
    assert not dist.is_initialized()


class Poison(Callback):
    """Makes one gradient of the second batch infinite."""

    def on_before_update(self, state: TrainState) -> None:
        if (state.epoch, state.position) == (0, 2):
            state.whole_gradients()[0].fill_(torch.inf)


def fit_shards(policy: Any = "stop", *calls: Callback) -> tuple[nn.Module, TrainState]:
    data, model = toy_data(), toy_net()
    config = TrainConfig(**SHORT, parallel="shard", on_non_finite=policy)
    guard = GuardNonFinite(policy)
    trainer = Trainer(config, task_for(data), callbacks=[*calls, guard])
    state = trainer.start(model, data)
    trainer.fit(state, data)
    return model, state


@pytest.mark.usefixtures("group")
def test_numbers_that_are_not_finite_do_not_reach_shards() -> None:
    with pytest.raises(RunError, match=r"the loss is finite, the gradient of '.*' is not"):
        fit_shards("stop", Poison())
    model, state = fit_shards("skip", Poison())
    assert len(state.passed_over) == 1
    assert all(bool(weight.isfinite().all()) for weight in model.parameters())


class Way(Callback):
    """Notes whether the device leaves updates out."""

    def __init__(self, ways: list[bool]) -> None:
        self.ways = ways

    def on_epoch_start(self, state: TrainState) -> None:
        if state.epoch == 0:
            self.ways.append(hasattr(state.optimizer, "found_inf"))


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("bad", [[], [3]], ids=["good", "bad"])
@pytest.mark.parametrize(
    "settings",
    [{"optimizer": "adam", "average": "exponential"}, {"optimizer": "lion"}],
    ids=["adam", "lion"],
)
def test_shards_of_one_process_can_be_read_later(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], bad: list[int]
) -> None:
    ends, said, ways, data = [], [], list[bool](), toy_data(rows=20)
    data.train.inputs[bad] = torch.nan
    for parallel, devices in (("replicate", "cuda"), ("shard", "cuda"), ("shard", "cpu")):
        monkeypatch.setattr(finite_check, "WAITED_FOR", (devices,))
        given = {"batch_size": 2, "epochs": 2, "parallel": parallel, **settings}
        trainer = toy_trainer(data, callbacks=[GuardNonFinite(), AverageWeights()], **given)
        trainer.callbacks += (Way(ways),)
        state = trainer.start(toy_net(batch_norm=True, dropout=0.4), data)
        with pytest.raises(RunError) if bad else nullcontext() as error:
            trainer.fit(state, data)
        said.append(("" if error is None else str(error.value), state.step, state.position))
        # Where an error ends a run, the model that was built has not been handed anything.
        ends.append(state.engine.own(state.model.state_dict().values()))
    assert ways == [False, False, True]
    assert said[0] == said[1] == said[2]
    assert_same(ends[1], ends[0])
    assert_same(ends[2], ends[0])


@pytest.mark.usefixtures("group")
def test_the_model_that_was_built_holds_what_was_learned() -> None:
    first = {name: part.clone() for name, part in toy_net().state_dict().items()}
    model, state = fit_shards()
    trained = state.model.state_dict()
    assert type(model) is type(toy_net())  # an ordinary module again, or still
    for name, part in model.state_dict().items():
        assert type(part) is torch.Tensor
        assert torch.equal(part, trained[name].full_tensor())
        assert not torch.equal(part, first[name])


@pytest.mark.slow
@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("name", MODEL_SETTINGS)
def test_half_precision_is_that_of_replicas(name: str) -> None:
    found = []
    for parallel in ("replicate", "shard"):
        data, model = data_for(name), build(name)
        config = TrainConfig(max_steps=8, precision="bf16-mixed", parallel=parallel, device="cpu")
        trainer = Trainer(config, task_for(data))
        trainer.fit(trainer.start(model, data), data)
        found.append(torch.cat([weight.flatten() for weight in model.parameters()]))
    torch.testing.assert_close(*found, rtol=0, atol=1e-10)


@pytest.mark.usefixtures("group")
def test_weights_used_outside_of_their_block_are_gathered_with_all() -> None:
    data = load("reverse", n=40, length=4)
    sizes: dict[str, Any] = {"layers": 2, "heads": 2, "width": 8}
    kind, found = MODELS.load("transformer"), []
    for parallel in ("replicate", "shard"):
        with seeded(0):
            model = kind.build(kind.settings(**sizes), data.spec)
        config = TrainConfig(max_steps=2, batch_size=8, parallel=parallel, device="cpu")
        trainer = Trainer(config, task_for(data))
        trainer.fit(trainer.start(model, data), data)
        found.append(torch.cat([weight.flatten() for weight in model.parameters()]))
    assert blocks_of(model) == []
    torch.testing.assert_close(*found, rtol=0, atol=1e-6)


@pytest.mark.usefixtures("group")
def test_shards_of_a_language_model_make_no_logits_of_a_whole_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = data_for("gpt")

    def learned(parallel: Any) -> dict[str, torch.Tensor]:
        model = build("gpt")
        config = TrainConfig(max_steps=3, lr=0.01, parallel=parallel, device="cpu")
        trainer = Trainer(config, task_for(data))
        trainer.fit(trainer.start(model, data), data)
        return model.state_dict()

    expected = learned("replicate")
    monkeypatch.setattr("netwright.train.tasks.per_token.LARGE_VOCABULARY", 2)
    monkeypatch.setattr("netwright.losses.linear_cross_entropy.MOST_LOGITS", 3 * KINDS)
    monkeypatch.delattr(GPT, "forward")  # gives all logits
    for name, weight in learned("shard").items():
        torch.testing.assert_close(weight, expected[name], rtol=0, atol=1e-10)


def test_without_a_process_group_shards_are_refused() -> None:
    with pytest.raises(ConfigError, match="needs a process group"):
        ShardedEngine(ALONE).place(toy_net(), torch.device("cpu"))


@for_each(
    "settings, reason",
    [
        ({"precision": "fp16-mixed"}, "precision fp16-mixed"),
        ({"optimizer": "muon"}, "the optimizer muon"),
        ({"compile": True}, "compile"),
        ({"profile": True}, "profile"),
    ],
)
def test_what_does_not_go_with_shards_is_refused(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=f"parallel=shard is not supported with {reason}"):
        check_sharding(TrainConfig(**settings), NO_PARTS, toy_net())


def test_a_weight_without_rows_is_refused() -> None:
    model = toy_net()
    model.register_parameter("gain", nn.Parameter(torch.ones(())))
    with pytest.raises(ConfigError, match=r"'gain'.*, which is one number or complex"):
        check_sharding(TrainConfig(), NO_PARTS, model)


def test_a_module_of_several_outputs_is_refused() -> None:
    with pytest.raises(ConfigError, match="with a module of several inputs or outputs"):
        check_sharding(TrainConfig(), NO_PARTS, AdaptedModule(toy_net()))


def test_blocks_are_those_of_rows_the_outermost_ones() -> None:
    assert len(blocks_of(build("gpt"))) == 3
    assert len(blocks_of(build("resnet20"))) == 9
    assert blocks_of(nn.Sequential(nn.Linear(2, 2), nn.ReLU())) == []
