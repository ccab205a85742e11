"""Memory: more of it is seen when more is held."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from netwright.core import peak_memory as measured
from netwright.core.peak_memory import peak_memory


def test_a_process_that_holds_more_has_a_higher_peak() -> None:
    before = peak_memory(torch.device("cpu"))
    held = torch.ones(2**20 * int(before + 64) // 4)  # as much again, and 64 MiB
    after = peak_memory(torch.device("cpu"))
    assert 10 < before < 2**20
    assert after >= before + 32
    assert len(held)


@pytest.mark.parametrize("status", ["Name: x\nVmHWM:\t  2048 kB\nVmRSS: 1 kB", "VmRSS: 1 kB", None])
def test_a_system_that_does_not_say_it_is_asked_otherwise(
    status: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if status is not None:
        (tmp_path / "status").write_text(status)
    monkeypatch.setattr(measured, "STATUS", tmp_path / "status")
    found = peak_memory(torch.device("cpu"))
    assert found == 2 if status and "HWM" in status else found > 50


OWN = """
import torch
from netwright.core.peak_memory import peak_memory
print(peak_memory(torch.device("cpu")))
"""


@pytest.mark.slow
def test_what_the_parent_held_is_not_the_childs() -> None:
    held = torch.ones(2**28)  # 1 GiB
    called = subprocess.run([sys.executable, "-c", OWN], capture_output=True, check=True)
    assert float(called.stdout) < peak_memory(torch.device("cpu")) - 2**9
    assert len(held)


def test_of_a_cuda_device_it_is_what_its_tensors_held(monkeypatch: pytest.MonkeyPatch) -> None:
    held = {torch.device("cuda", 1): 3 * 2**20}
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", held.get)
    assert peak_memory(torch.device("cuda", 1)) == 3.0
