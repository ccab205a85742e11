"""The structure of attention: order, cost, and the way from one position to another."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.core.seeding import generator
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.recurrence.recurrent_cells import States, elman_step
from netwright.layers.recurrence.scan import parallel_scan
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.attention.attention_structure import (
    COST,
    PERMUTATION,
    operations,
    path_length,
    recurrence,
    self_attention,
)
from netwright.theory.claims import Claim
from netwright.theory.sequences.rnn_jacobians import random_matrix


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("claim", [PERMUTATION, COST], ids=["permutation", "cost"])
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.covers("permutation-equivariance")
def test_outputs_move_along_with_the_inputs_and_their_mean_stays() -> None:
    moved, followed = PERMUTATION.check().findings
    assert moved.measured > 0.1
    assert followed.measured < 1e-12
    assert PERMUTATION.check(apart=False).holds


@pytest.mark.covers("attention-complexity")
def test_operations_are_those_of_the_formulas_cross_where_n_is_d_and_grow_fourfold() -> None:
    for positions in (8, 16, 32):
        attention, recurrent = (
            operations(layer, positions, 16) for layer in (self_attention, recurrence)
        )
        assert attention == 4 * positions**2 * 16
        assert recurrent == 4 * positions * 16**2
        assert (attention < recurrent, attention == recurrent) == (positions < 16, positions == 16)
        assert operations(self_attention, 2 * positions, 16) == 4 * attention
        assert operations(recurrence, 2 * positions, 16) == 2 * recurrent
    # Time follows operations only on machines that do nothing else: benchmarks/long_attention.py.
    assert path_length(self_attention, 12) == path_length(self_attention, 4)
    step = path_length(recurrence, 1) - path_length(recurrence, 0)
    assert path_length(recurrence, 12) - path_length(recurrence, 4) == 8 * step


def depth(output: Tensor) -> int:
    """Operations on the longest way to an output: what no number of hands makes shorter."""
    found: dict[Any, int] = {None: 0}
    waiting = [output.grad_fn]
    while waiting:
        node = waiting[-1]
        before = [one for one, _ in node.next_functions] if node is not None else []
        missing = [one for one in before if one not in found]
        if missing:
            waiting += missing
            continue
        found[node] = 1 + max((found[one] for one in before), default=0)
        waiting.pop()
    return found[output.grad_fn]


@pytest.mark.covers("parallelization")
def test_a_recurrence_is_as_deep_as_its_sequence_attention_is_not_and_a_scan_is_its_logarithm() -> (
    None
):
    def attention_depth(steps: int) -> int:
        return depth(self_attention(torch.ones(steps, 4, requires_grad=True))[-1])

    def recurrent_depth(steps: int) -> int:
        return depth(recurrence(torch.ones(steps, 4, requires_grad=True))[-1])

    def scan_depth(steps: int) -> int:
        a, b = torch.ones(2, 1, steps, 4, requires_grad=True)
        return depth(parallel_scan(a, b)[0])

    first, step = recurrent_depth(1), recurrent_depth(2) - recurrent_depth(1)
    start, a_round = scan_depth(1), scan_depth(2) - scan_depth(1)
    assert step > 0
    assert a_round > 0
    for steps in (2, 3, 5, 8, 9, 16, 33, 64):
        assert attention_depth(steps) == attention_depth(1)
        assert recurrent_depth(steps) - first == (steps - 1) * step
        assert scan_depth(steps) - start == math.ceil(math.log2(steps)) * a_round


def test_operations_by_hand() -> None:
    assert operations(self_attention, 8, 16) == 2 * 2 * 8 * 8 * 16  # scores, then values
    assert operations(recurrence, 8, 16) == 2 * 2 * 8 * 16 * 16  # inputs, then states
    maps = [part for part in MultiHeadAttention(16, 2).parameters() if part.ndim == 2]
    left_out = sum(2 * 8 * part.numel() for part in maps)
    assert left_out == 8 * 8 * 16 * 16 > operations(recurrence, 8, 16)  # although 8 < 16


def test_blocks_of_attention_cost_less_and_do_not_see_each_other() -> None:
    x = torch.randn(16, 4, generator=generator(0, "test"))
    blocks = self_attention(x, dense=False)
    torch.testing.assert_close(blocks[8:], self_attention(x[8:]))
    assert operations(lambda x: self_attention(x, dense=False), 16, 4) == 4 * 16 * 8 * 4


def test_the_way_through_a_chain_of_operations_is_counted() -> None:
    assert path_length(lambda x: x, 0) == 2  # an index, then the stack of inputs
    assert path_length(lambda x: x.tanh().exp(), 0) == 4
    assert path_length(lambda x: x.tanh().exp() + x, 0) == 3  # the shorter of the two
    assert path_length(lambda x: x.detach(), 0) == math.inf


@pytest.mark.covers("long-range-connection")
def test_the_gradient_over_a_distance_falls_as_one_over_it_and_dies_in_a_recurrence() -> None:
    weights = {
        "weight_ih": torch.eye(16).double(),
        "weight_hh": 0.9 * random_matrix(16, generator(0, "test")),
    }

    def through_recurrence(x: torch.Tensor) -> torch.Tensor:
        state: States = (torch.zeros(16).double(),)
        for row in x.unbind():
            state = elman_step(row, state, weights)
        return state[0]

    def gradient(layer, length: int) -> float:  # type: ignore[no-untyped-def]
        x = torch.zeros(length, 16, dtype=torch.float64, requires_grad=True)  # attention is uniform
        (grad,) = torch.autograd.grad(layer(x).sum(), x)
        return float(grad[0].norm())

    for length in (10, 50, 100):
        found = gradient(lambda x: self_attention(x)[-1], length)
        assert found == pytest.approx(4 / length)  # sqrt(16) features, each by 1 / length
    assert gradient(through_recurrence, 100) < 1e-4 * gradient(through_recurrence, 50)


def test_causal_attention_is_no_longer_equivariant(monkeypatch: pytest.MonkeyPatch) -> None:
    def causal(width, heads):  # type: ignore[no-untyped-def]
        return MultiHeadAttention(width, heads, causal=True)

    monkeypatch.setattr("netwright.theory.attention.attention_structure.MultiHeadAttention", causal)
    _, followed = PERMUTATION.check().findings
    assert not followed.holds
