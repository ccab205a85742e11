"""`netwright plan`: a table of settings, the best of them, and refusals."""

import json
from dataclasses import replace

import pytest
import torch

from netwright.recipes.plan import machines
from netwright.recipes.plan.block_seconds import BlockSeconds
from netwright.recipes.plan.host_rates import HostRates
from netwright.recipes.plan.machines import MACHINES, measured_machine
from netwright.train.profiling.hardware_rates import HardwareRates
from tests.apps.cli.conftest import Type

RATES = HardwareRates(2e14, 1e12)
HOST = HostRates(memory=2e11, copies=5e10, stepping=1e11)
BLOCKS = BlockSeconds(block=1e-3, block_again=2e-3, shards=3e-3, shards_again=4e-3)


def test_settings_are_listed_and_the_best_is_told(
    type_in: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("plan", "gpt2-xl", "--gpus", 8, "--kind", "h200", "--batch", "64x1024", "--price", 4)
    answer = type_in(*words)
    assert (answer.code, answer.err) == (0, "")
    assert "gpt2-xl: 1,557,611,200 weights; 8 x h200, 64 texts of 1024 tokens" in answer.out
    assert "fastest that fits, in GB per GPU: weights " in answer.out
    assert "--set train.precision=bf16-mixed" in answer.out
    assert "a billion tokens: " in answer.out
    told = json.loads(type_in(*words, "--json").out)
    assert told["best"] in told["all"] and len(told["all"]) == 2 * 2 * 4
    monkeypatch.setitem(MACHINES, "a100", replace(MACHINES["a100"], memory=18 * 10**9))
    answer = type_in("plan", "gpt2-xl", "--kind", "a100", "--batch", "2x1024")
    assert "memory of the host: " in answer.out and "shard, offload" in answer.out
    assert "--set train.offload=true" in answer.out
    monkeypatch.setitem(MACHINES, "a100", replace(MACHINES["a100"], memory=10**9))
    assert "none of them fits: use more GPUs" in type_in("plan", "gpt2", "--kind", "a100").out


def test_it_is_told_where_the_gpu_waits_for_the_host(type_in: Type) -> None:
    said = "the GPU waits for the host to start its kernels: "
    assert said in type_in("plan", "gpt2", "--gpus", 2, "--batch", "2x1024").out
    assert said not in type_in("plan", "gpt2", "--gpus", 2, "--batch", "64x1024").out


def test_what_is_assumed_of_a_measured_gpu_is_told(
    type_in: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = type_in("plan", "gpt2", "--kind", "a100").out
    assert "% of the published peak" in usual and "assumed" not in usual
    measured = measured_machine("Another GPU", RATES, 3e13, 48 * 10**9, 10**9, HOST, BLOCKS)
    monkeypatch.setattr(machines, "find_machine", lambda kind: measured)
    answer = type_in("plan", "gpt2", "--kind", "here", "--gpus", 2)
    assert "assumed, not measured: 360 GB/s between GPUs of a machine, as of the h200" in answer.out
    assert "% of the measured rate" in answer.out
    assert json.loads(type_in("plan", "gpt2", "--json").out)["machine"]["link_of"] == "h200"


def test_what_cannot_be_planned_is_refused(type_in: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for words, said in {
        (): "name a model, as in netwright plan gpt2",
        ("gpt2", "--batch", "64"): "batch must be texts x tokens, as in 64x1024, got '64'",
        ("gpt2", "--batch", f"{10**30}x1024"): "batch must be texts x tokens, as in 64x1024, got",
        ("gpt2", "--kind", "h2000"): "unknown kind of GPU 'h2000'; did you mean 'h200'",
        ("mlp",): "plan knows models of the gpt family, got mlp",
        ("--calibrate",): "there is no GPU here to calibrate",
    }.items():
        answer = type_in("plan", *words)
        assert answer.code == 2 and said in answer.err
