"""Memory: more of it is seen when more is held."""

import torch

from netwright.core.peak_memory import peak_memory


def test_a_process_that_holds_more_has_a_higher_peak() -> None:
    before = peak_memory(torch.device("cpu"))
    held = torch.ones(2**20 * int(before + 64) // 4)  # as much again, and 64 MiB
    after = peak_memory(torch.device("cpu"))
    assert 10 < before < 2**20
    assert after >= before + 32
    assert len(held)
