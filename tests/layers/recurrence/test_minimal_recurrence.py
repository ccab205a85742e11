"""minGRU and minLSTM: their formulas, matrices and bounds, and the memory they begin with."""

import pytest
import torch
from torch import Tensor, nn

from netwright.core.seeding import seeded
from netwright.layers.recurrence.minimal_recurrence import (
    LONGEST,
    MinimalGRU,
    MinimalLSTM,
    draw_memories,
)


def series(steps: int) -> Tensor:
    numbers = torch.Generator().manual_seed(7)
    return torch.randn(2, steps, 3, generator=numbers, dtype=torch.float64)


@pytest.mark.covers("min-gru")
def test_min_gru_is_its_formula_step_by_step_and_has_two_matrices() -> None:
    with seeded(0):
        layer = MinimalGRU(3, 4).double()
    x = series(1000)
    outputs, _ = layer(x)
    state, wanted = torch.zeros(2, 4, dtype=torch.float64), []
    for x_t in x.unbind(1):
        keep = 1 - torch.sigmoid(layer.update_gate(x_t))
        state = keep * state + (1 - keep) * layer.candidate(x_t)
        wanted.append(state)
    torch.testing.assert_close(outputs, torch.stack(wanted, dim=1), rtol=0, atol=1e-10)
    matrices = [part for part in layer.parameters() if part.dim() == 2]
    assert [tuple(part.shape) for part in matrices] == [(4, 3), (4, 3)]


def test_min_lstm_is_its_formula_step_by_step() -> None:
    with seeded(0):
        layer = MinimalLSTM(3, 4).double()
    x = series(50)
    outputs, _ = layer(x)
    state = torch.zeros(2, 4, dtype=torch.float64)
    for t in range(50):
        forget = torch.sigmoid(layer.forget_gate(x[:, t]))
        let_in = torch.sigmoid(layer.input_gate(x[:, t]))
        total = forget + let_in
        state = forget / total * state + let_in / total * layer.candidate(x[:, t])
        torch.testing.assert_close(outputs[:, t], state, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", [MinimalGRU, MinimalLSTM])
def test_the_state_never_leaves_the_range_of_its_candidates(
    kind: type[MinimalGRU | MinimalLSTM],
) -> None:
    with seeded(1):
        layer = kind(3, 4).double()
    x = 5 * series(300)
    outputs, candidates = layer(x)[0], layer.candidate(x)
    largest = candidates.abs().amax(dim=1, keepdim=True)  # (B, 1, H)
    assert bool((outputs.abs() <= largest).all())


def test_memories_are_spread_over_all_lengths() -> None:
    with seeded(0):
        memories = draw_memories(10_000)
    assert float(memories.min()) >= 1
    assert float(memories.max()) <= LONGEST
    assert abs(float(memories.log10().mean()) - 1.5) < 0.05


@pytest.mark.parametrize("kind", [MinimalGRU, MinimalLSTM])
def test_a_unit_at_rest_forgets_one_part_in_one_plus_its_memory(
    kind: type[MinimalGRU | MinimalLSTM],
) -> None:
    with seeded(2):
        layer = kind(3, 8)
    with seeded(2):
        for _ in range(2 if kind is MinimalGRU else 3):
            nn.Linear(3, 8)  # the draws before
        memories = draw_memories(8)
    keep, _ = layer.coefficients(torch.zeros(1, 3))
    # minGRU forgets 1 of 1 + u a step; the two gates of minLSTM end at the same share.
    torch.testing.assert_close(keep[0], memories / (1 + memories))


@pytest.mark.parametrize("kind", [MinimalGRU, MinimalLSTM])
def test_mixed_precision_still_forgets_slowly(kind: type[MinimalGRU | MinimalLSTM]) -> None:
    with seeded(2):
        layer = kind(3, 8)
    x = torch.zeros(1, 3)
    keep, _ = layer.coefficients(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed, _ = layer.coefficients(x)
    # The logit is rounded to bfloat16, the share is not: there 0.999 would be 1.
    torch.testing.assert_close(1 - mixed, 1 - keep, rtol=0.05, atol=0)
