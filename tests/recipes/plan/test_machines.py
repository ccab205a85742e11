"""The GPUs of a plan: by name, or as they were measured."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from netwright.core.errors import ConfigError, UnknownNameError
from netwright.recipes.plan import machines
from netwright.recipes.plan.block_seconds import BlockSeconds
from netwright.recipes.plan.host_rates import HostRates
from netwright.recipes.plan.machines import (
    FILE,
    MACHINES,
    find_machine,
    kind_of,
    measured_machine,
)
from netwright.train.profiling.hardware_rates import HardwareRates

HOST = HostRates(memory=5e11, copies=5.5e10, stepping=2e11)
BLOCKS = BlockSeconds(block=1e-3, block_again=2e-3, shards=3e-3, shards_again=4e-3)


def test_a_machine_is_found_by_its_name() -> None:
    assert find_machine("a100") is MACHINES["a100"]
    for machine in MACHINES.values():
        assert machine.attention < machine.flops < machine.peak
        assert machine.network < machine.link
        assert machine.block < machine.block_again < machine.shards_again
        assert machine.block < machine.shards < machine.shards_again
    with pytest.raises(UnknownNameError, match="unknown kind of GPU 'h20'; did you mean 'h200'"):
        find_machine("h20")


def test_here_is_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "home_folder", lambda: tmp_path)
    with pytest.raises(ConfigError, match="has not been calibrated: run netwright plan --calib"):
        find_machine("here")
    measured = measured_machine(
        "NVIDIA H200", HardwareRates(5e14, 3e12), 9e13, 80 * 10**9, 10**9, HOST, BLOCKS
    )
    assert (measured.flops, measured.bandwidth, measured.reserved) == (5e14, 3e12, 10**9)
    assert measured.attention == 9e13
    assert (measured.host, measured.copies, measured.stepping) == HOST
    blocks = (measured.block, measured.block_again, measured.shards, measured.shards_again)
    assert blocks == BLOCKS
    (tmp_path / FILE).write_text(json.dumps(asdict(measured)))
    assert find_machine("here") == measured
    wrongs: list[object] = [
        {**asdict(measured), "flops": -1},
        *(  # old ones
            {name: value for name, value in asdict(measured).items() if name != gone}
            for gone in ("attention", "shards_again")
        ),
        {**asdict(measured), "block": 0.0},
        {**asdict(measured), "link_of": ["h200"]},
        {**asdict(measured), "peak_is_measured": 1},
        {"flops": 1},
        [],
    ]
    for wrong in wrongs:
        (tmp_path / FILE).write_text(json.dumps(wrong))
        with pytest.raises(ConfigError, match="is not a calibration"):
            find_machine("here")


def test_what_is_measured_is_kept_for_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "home_folder", lambda: tmp_path / "new")
    rates = HardwareRates(5e14, 3e12)
    for name, found in {
        "is_available": True,
        "empty_cache": None,
        "mem_get_info": (70 * 10**9, 80 * 10**9),
        "memory_reserved": 8 * 10**9,
        "get_device_name": "NVIDIA H200",
    }.items():
        monkeypatch.setattr(torch.cuda, name, lambda *_, found=found: found)
    for name, measured in {
        "hardware_rates": rates,
        "attention_rate": 9e13,
        "measure_host": HOST,
        "measure_blocks": BLOCKS,
    }.items():
        monkeypatch.setattr(machines, name, lambda *_, measured=measured: measured)
    wanted = measured_machine("NVIDIA H200", rates, 9e13, 80 * 10**9, 2 * 10**9, HOST, BLOCKS)
    assert machines.calibrate() == find_machine("here") == wanted


def test_a_measured_gpu_has_the_peak_and_link_of_its_own_kind() -> None:
    rates = HardwareRates(2e14, 1.5e12)
    a100 = measured_machine("NVIDIA A100-SXM4-80GB", rates, 3e13, 80 * 10**9, 10**9, HOST, BLOCKS)
    assert (a100.peak, a100.link) == (MACHINES["a100"].peak, MACHINES["a100"].link)
    assert (a100.peak_is_measured, a100.link_of) == (False, "a100")
    card = "NVIDIA GeForce RTX 4090"
    other = measured_machine(card, rates, 3e13, 24 * 10**9, 10**9, HOST, BLOCKS)
    assert (other.peak, other.peak_is_measured, other.link_of) == (2e14, True, "h200")
    for name in ("NVIDIA GH200 480GB", "NVIDIA H100 PCIe", "NVIDIA H100 80GB HBM3 MIG 1g.10gb"):
        assert kind_of(name) == ""
    assert kind_of("NVIDIA H100 80GB HBM3") == "h100"


def test_without_a_gpu_nothing_is_calibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="there is no GPU here to calibrate"):
        machines.calibrate()
