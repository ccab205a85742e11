"""The modern Hopfield layer: attention, its energy, retrieval, and blocks that save memory."""

import re
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.errors import ConfigError, ShapeError
from netwright.layers.attention import hopfield
from netwright.layers.attention.hopfield import Hopfield, hopfield_energy, hopfield_retrieval
from netwright.testing.layer_contract import LAYER_CHECKS, Build
from tests.repetition import for_each


def normal(*shape: int, seed: int = 0) -> Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=numbers, dtype=torch.float64)


@pytest.mark.covers("modern-hopfield")
def test_update_is_attention_lowers_the_energy_and_retrieves_in_one_step() -> None:
    patterns, queries = normal(30, 16), normal(20, 16, seed=1)
    updated = hopfield_retrieval(queries, patterns, 0.25)  # 1/sqrt(16)
    attended = F.scaled_dot_product_attention(queries, patterns, patterns)
    torch.testing.assert_close(updated, attended, rtol=0, atol=1e-12)
    for beta in (0.25, 1.0, 8.0):
        state = queries
        for _ in range(10):
            after = hopfield_retrieval(state, patterns, beta)
            change = hopfield_energy(after, patterns, beta) - hopfield_energy(state, patterns, beta)
            assert change.max() <= 1e-12
            state = after
    noisy = patterns + 0.2 * normal(30, 16, seed=2)
    torch.testing.assert_close(hopfield_retrieval(noisy, patterns, 30.0), patterns)


@pytest.mark.parametrize("block", [1, 7, 64, 10_000])
def test_blocks_change_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    patterns, queries, values = normal(50, 4), normal(8, 4, seed=1), normal(50, 3, seed=2)
    offsets = normal(50, seed=3)
    monkeypatch.setattr(hopfield, "BLOCK_SCORES", block * 8)
    expected = (2.0 * queries @ patterns.T + offsets).softmax(dim=1) @ values
    found = hopfield_retrieval(queries, patterns, 2.0, values=values, offsets=offsets)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    energies = (
        -(2.0 * queries @ patterns.T).logsumexp(dim=1) / 2.0
        + queries.square().sum(dim=1) / 2
        + torch.tensor(50.0).double().log() / 2.0
        + patterns.square().sum(dim=1).max() / 2
    )
    torch.testing.assert_close(hopfield_energy(queries, patterns, 2.0), energies)


def test_energy_is_never_negative() -> None:
    patterns = normal(5, 3)
    for beta in (0.01, 1.0, 100.0):
        assert hopfield_energy(normal(100, 3, seed=1), patterns, beta).min() >= 0


MEASURE = """
import resource
import torch
from netwright.layers.attention.hopfield import hopfield_retrieval

patterns = torch.randn(100_000, 128, generator=torch.Generator().manual_seed(0))
queries = patterns[:256] + 0.3
hopfield_retrieval(queries[:2], patterns[:1000], 1.0)  # what starts up once
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = hopfield_retrieval(queries, patterns, 1.0)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) / 1024, bool(torch.allclose(found, patterns[:256])))
"""


@pytest.mark.slow
def test_a_hundred_thousand_patterns_take_little_memory_beside_themselves() -> None:
    told = subprocess.run([sys.executable, "-c", MEASURE], check=True, capture_output=True)
    megabytes, right = told.stdout.decode().split()
    assert right == "True"
    assert float(megabytes) <= 64  # all scores at once would be 98 MB


@for_each("check", LAYER_CHECKS, ids=lambda check: check.__name__)
@for_each("steps", [1, 3])
def test_keeps_the_layer_contract(steps: int, check: Callable[[Build], None]) -> None:
    check(lambda: (Hopfield(5, 4, steps=steps), torch.randn(3, 4)))


def test_default_scale_is_that_of_attention() -> None:
    assert Hopfield(3, 16).beta == 0.25
    assert Hopfield(3, 16, beta=2.0).beta == 2.0


def test_refusals() -> None:
    for sentence, call in (
        ("steps must be positive, got 0", lambda: Hopfield(3, 4, steps=0)),
        ("beta must be positive, got -1.0", lambda: Hopfield(3, 4, beta=-1.0)),
        (
            "beta must be positive, got 0.0",
            lambda: hopfield_retrieval(normal(2, 3), normal(4, 3), 0.0),
        ),
    ):
        with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
            call()
    with pytest.raises(ShapeError, match=r"^patterns must have shape \(S, 3\), got \(4, 2\)$"):
        hopfield_retrieval(normal(2, 3), normal(4, 2), 1.0)
    with pytest.raises(ShapeError, match=r"^patterns must not be empty$"):
        hopfield_retrieval(normal(2, 3), normal(0, 3), 1.0)
