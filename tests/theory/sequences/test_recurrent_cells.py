"""Recurrent cells: what an open gate keeps, how many blocks of weights, the identity start."""

import pytest
import torch
from torch import nn

from netwright.core.seeding import generator
from netwright.layers.recurrence.recurrent_cells import LSTM, lstm_step
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.sequences.recurrent_cells import (
    BLOCKS,
    CELL_KEPT,
    GRU_BLOCKS,
    IDENTITY_RNN,
    cells_over_time,
    count_weights,
    gated_weights,
    recurrent_weights,
    share_kept,
)

CLAIMS = {"cell-kept": CELL_KEPT, "gru-blocks": GRU_BLOCKS, "identity-rnn": IDENTITY_RNN}


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


def test_gates_stand_where_they_are_put_whatever_comes_in() -> None:
    rng = generator(0, "test")
    weights = gated_weights(3, 0.25, 0.5, rng)
    x, h, c = torch.randn(3, 5, 3, generator=rng, dtype=torch.float64)
    _, after = lstm_step(x, (h, c), weights)
    candidate = (x @ weights["weight_ih"][6:9].T + h @ weights["weight_hh"][6:9].T).tanh()
    torch.testing.assert_close(after, c / 4 + candidate / 2)


def test_the_share_that_is_kept_by_hand() -> None:
    cells = torch.tensor([[[1.0, 2.0]], [[0.5, 1.0]], [[2.0, -1.0]]])
    assert share_kept(cells).tolist() == [1, 0.5, 0]


def test_a_gate_of_0_99_keeps_a_third_over_100_steps() -> None:
    rng = generator(0, "test")
    first = torch.ones(1, 2, dtype=torch.float64)
    kept = share_kept(cells_over_time(gated_weights(2, 0.99, 0.0, rng), first, rng))
    assert kept[100].item() == pytest.approx(0.366, abs=1e-3)


@pytest.mark.parametrize(("inputs", "units"), [(10, 20), (1, 1), (7, 5)])
def test_weights_are_counted_as_torch_has_them(inputs: int, units: int) -> None:
    wanted = sum(weight.numel() for weight in nn.LSTM(inputs, units).parameters())
    assert (
        count_weights(LSTM, inputs, units) == wanted == 4 * (units * (inputs + units) + 2 * units)
    )


def test_the_ratio_of_weights_is_three_to_four() -> None:
    _, ratio = GRU_BLOCKS.check(size="full").findings
    assert (ratio.measured, ratio.n) == (0.75, 10)


def test_a_gru_of_four_blocks_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BLOCKS, "GRU", (LSTM, 3))
    assert not GRU_BLOCKS.check().holds


def test_a_cell_that_adds_in_spite_of_its_gate_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def leaking(x, state, weights):  # type: ignore[no-untyped-def]
        h, c = lstm_step(x, state, weights)
        return h, c + 1e-9

    monkeypatch.setattr("netwright.theory.sequences.recurrent_cells.lstm_step", leaking)
    assert not CELL_KEPT.check().holds


def test_the_library_starts_from_the_identity_without_biases() -> None:
    weights = recurrent_weights(4, 0, identity=True)
    assert torch.equal(weights["weight_hh"], torch.eye(4).double())
    assert not weights["bias_ih"].any()
    assert not weights["bias_hh"].any()
