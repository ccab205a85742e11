"""Which engine a run is trained by."""

import pytest
import torch

from netwright.train.engines import catalog
from netwright.train.engines.catalog import (
    ENGINES,
    build_device,
    build_engine,
    choose_engine,
    rows_tried,
)
from netwright.train.engines.engine import Engine
from netwright.train.ranks import ALONE, Ranks
from tests.repetition import for_each
from tests.train.toy_runs import toy_data, toy_net, toy_trainer

GB = 2**30


@for_each(
    "weights, ranks, memory, wanted",
    [
        (124_000_000, Ranks(0, 4), 80 * GB, "replicate"),
        (7_000_000_000, Ranks(0, 4), 80 * GB, "shard"),
        (7_000_000_000, ALONE, 80 * GB, "replicate"),  # nobody to share it with
        (7_000_000_000, Ranks(0, 4), None, "replicate"),  # on the host
    ],
)
def test_what_would_take_most_of_a_gpu_is_sharded(
    weights: int, ranks: Ranks, memory: int | None, wanted: str
) -> None:
    assert choose_engine(weights, ranks, memory) == wanted


def test_auto_keeps_replicas_where_a_setting_needs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_memory", lambda device: 1)  # byte
    net, cpu = toy_net(), torch.device("cpu")
    assert build_engine("auto", Ranks(0, 2), net, cpu).shards
    assert not build_engine("auto", Ranks(0, 2), net, cpu, can_shard=False).shards
    for settings in ({"optimizer": "muon"}, {"compile": True}):
        trainer = toy_trainer(toy_data(), device="cpu", **settings)
        trainer.ranks = Ranks(0, 2)
        assert not trainer.start(toy_net(), toy_data()).engine.shards


def test_an_engine_is_built_by_its_name() -> None:
    cpu = torch.device("cpu")
    for name, kind in (("auto", Engine), *((name, ENGINES.load(name)) for name in ENGINES)):
        engine = build_engine(name, Ranks(1, 2), toy_net(), cpu)  # type: ignore[arg-type]
        assert type(engine) is kind
        assert engine.ranks.rank == 1


def test_several_processes_build_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu, cpu = torch.device("cuda"), torch.device("cpu")
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert build_device("auto", gpu) == build_device("replicate", gpu) == gpu
    assert build_device("shard", gpu) == build_device("shard", cpu) == cpu
    assert [rows_tried(parallel, gpu, 64) for parallel in ("auto", "shard")] == [64, 2]
    assert [rows_tried("shard", cpu, 64), rows_tried("shard", gpu, 1)] == [64, 1]
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert build_device("auto", gpu) == cpu
    assert rows_tried("auto", gpu, 64) == 2


def test_a_rehearsal_leaves_the_model_where_it_was_built() -> None:
    trainer = toy_trainer(toy_data(), device="meta")
    net = toy_net()
    assert trainer.rehearse(net, toy_data()).device == torch.device("cpu")
    assert all(weight.device == torch.device("cpu") for weight in net.parameters())
