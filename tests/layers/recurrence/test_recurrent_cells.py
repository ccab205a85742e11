"""Recurrent cells: torch's cells step by step, steps worked by hand, the laws of their gates."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from netwright.layers.recurrence.recurrent_cells import (
    ELMAN,
    ELMAN_RELU,
    GRU,
    GRU_RESET_FIRST,
    LSTM,
    LSTM_CELL_GATE,
    Cell,
    States,
    elman_step,
    gru_reset_first_step,
    gru_step,
    jordan_step,
    lstm_cell_gate_step,
    lstm_mapped_step,
    lstm_step,
)
from tests.repetition import for_each

D, H = 3, 4


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def drawn_weights(cell: Cell, inputs: int = D, units: int = H) -> dict[str, Tensor]:
    shapes = cell.shapes(inputs, units)
    return {
        name: draw(*shape, seed=place) / 2 for place, (name, shape) in enumerate(shapes.items())
    }


def drawn_state(cell: Cell, rows: int = 2) -> States:
    return tuple(draw(rows, H, seed=10 + part) for part in range(cell.states))


def lstm_of_biases(*, forget: float, take: float) -> dict[str, Tensor]:
    """An LSTM of H units whose forget and input gates are biases alone."""
    weight_ih, weight_hh = draw(4 * H, D), draw(4 * H, H)
    weight_ih[: 2 * H] = weight_hh[: 2 * H] = 0
    bias = torch.zeros(4 * H, dtype=torch.float64)
    bias[:H], bias[H : 2 * H] = take, forget
    return {"weight_ih": weight_ih, "weight_hh": weight_hh, "bias_ih": bias}


def check_gradients(cell: Cell) -> None:
    """Those of one step are those of finite differences."""
    weights = drawn_weights(cell)

    def step(x: Tensor, *parts: Tensor) -> States:
        state, given = parts[: cell.states], parts[cell.states :]
        return cell.step(x, state, dict(zip(weights, given, strict=True)))

    parts = (draw(2, D, seed=30), *drawn_state(cell), *weights.values())
    assert torch.autograd.gradcheck(step, [part.clone().requires_grad_() for part in parts])


@for_each(
    ("cell", "reference"),
    [
        (ELMAN, nn.RNNCell(D, H)),
        (ELMAN_RELU, nn.RNNCell(D, H, nonlinearity="relu")),
        (LSTM, nn.LSTMCell(D, H)),
        (GRU, nn.GRUCell(D, H)),
    ],
    ids=["elman", "elman relu", "lstm", "gru"],
)
def test_steps_are_those_of_torch(cell: Cell, reference: nn.RNNCellBase) -> None:
    weights, state = drawn_weights(cell), drawn_state(cell)
    reference.double().load_state_dict(weights)
    for seed in range(5):
        x = draw(2, D, seed=20 + seed)
        wanted = reference(x, state if cell.states > 1 else state[0])
        state = cell.step(x, state, weights)
        torch.testing.assert_close(
            state, wanted if cell.states > 1 else (wanted,), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("cell", [ELMAN, ELMAN_RELU, LSTM], ids=["elman", "relu", "lstm"])
def test_gradients_of_a_step_are_those_of_finite_differences(cell: Cell) -> None:
    check_gradients(cell)


def test_two_steps_of_an_elman_cell_by_hand() -> None:
    one = torch.ones(1, 1, dtype=torch.float64)
    weights = {"weight_ih": 2 * one, "weight_hh": -one, "bias_ih": 0.5 * one[0]}
    first = elman_step(0.25 * one, (0 * one,), weights)
    assert first[0].item() == pytest.approx(math.tanh(2 * 0.25 + 0.5))
    second = elman_step(-one, first, weights)
    assert second[0].item() == pytest.approx(math.tanh(-2 - math.tanh(1.0) + 0.5))


def test_a_jordan_cell_remembers_its_answer_and_nothing_else() -> None:
    one = torch.ones(1, 1, dtype=torch.float64)
    weights = {
        "weight_ih": 2 * one,
        "weight_hh": -one,
        "bias_ih": 0.5 * one[0],
        "weight_ho": 3 * one,
        "bias_ho": one[0],
    }
    (first,) = jordan_step(0.25 * one, (0 * one,), weights)
    assert first.item() == pytest.approx(3 * math.tanh(1.0) + 1)
    (second,) = jordan_step(-one, (first,), weights)
    assert second.item() == pytest.approx(3 * math.tanh(-2 - first.item() + 0.5) + 1)


@pytest.mark.covers("lstm-gates")
def test_gradient_along_the_cell_is_the_product_of_the_forget_gates() -> None:
    weights = lstm_of_biases(forget=math.log(0.99 / 0.01), take=0.0)
    weights["weight_hh"].zero_()  # the direct path alone: nothing comes back by the output
    start = draw(1, H, seed=1).requires_grad_()
    state: States = (torch.zeros_like(start), start)
    for step in range(100):
        state = lstm_step(draw(1, D, seed=step), state, weights)
    (grad,) = torch.autograd.grad(state[1].sum(), start)
    assert grad[0].tolist() == pytest.approx([0.99**100] * H)
    assert grad[0, 0].item() == pytest.approx(0.366, abs=1e-3)

    weights["weight_ih"] = draw(4 * H, D)  # gates that follow the input
    state, gates = (torch.zeros_like(start), start), torch.ones_like(start)
    for step in range(20):
        x = draw(1, D, seed=step)
        f = (x @ weights["weight_ih"].T + weights["bias_ih"]).sigmoid().chunk(4, dim=-1)[1]
        assert bool(((f > 0) & (f < 1)).all())
        gates, state = gates * f, lstm_step(x, state, weights)
    (grad,) = torch.autograd.grad(state[1].sum(), start)
    torch.testing.assert_close(grad, gates)


def test_an_open_forget_gate_and_a_closed_input_gate_keep_the_cell_for_a_thousand_steps() -> None:
    weights = lstm_of_biases(forget=50.0, take=-800.0)  # sigma is 1 and 0, to the last bit
    cell = draw(2, H)
    state: States = (torch.zeros_like(cell), cell)
    for step in range(1000):
        state = lstm_step(draw(2, D, seed=step), state, weights)
    assert torch.equal(state[1], cell)


@pytest.mark.covers("gating")
@pytest.mark.parametrize(("bias", "factor"), [(-20.0, 0.0), (20.0, 1.0)])
def test_a_gate_at_its_end_erases_or_keeps(bias: float, factor: float) -> None:
    cell = draw(2, H)
    weights = lstm_of_biases(forget=bias, take=-20.0)
    _, after = lstm_step(draw(2, D), (torch.zeros_like(cell), cell), weights)
    torch.testing.assert_close(after, factor * cell, rtol=0, atol=1e-6)


@pytest.mark.covers("lstm-cell-output-gate-variant")
def test_the_output_gate_reads_the_input_or_the_cell() -> None:
    usual, variant = (dict(cell.shapes(D, H)) for cell in (LSTM, LSTM_CELL_GATE))
    # W_o is (H, H + D) or (H, H + H): the last block of weight_hh, and one of the other matrices.
    assert usual["weight_hh"] == variant["weight_hh"] == (4 * H, H)
    assert usual["weight_ih"] == (4 * H, D)
    assert (variant["weight_ih"], variant["weight_co"]) == ((3 * H, D), (H, H))

    weights, state, x = drawn_weights(LSTM_CELL_GATE), drawn_state(LSTM_CELL_GATE), draw(2, D)
    h, c = lstm_cell_gate_step(x, state, weights)
    o = (
        state[0] @ weights["weight_hh"][-H:].T
        + c @ weights["weight_co"].T
        + weights["bias_hh"][-H:]
    )
    torch.testing.assert_close(h, o.sigmoid() * c.tanh())
    open_gate = weights | {
        "weight_ih": torch.cat((weights["weight_ih"], torch.zeros(H, D, dtype=torch.float64))),
        "bias_ih": torch.cat((weights["bias_ih"], torch.zeros(H, dtype=torch.float64))),
    }
    torch.testing.assert_close(c, lstm_step(x, state, open_gate)[1])  # the cell is as ever
    for cell in (LSTM, LSTM_CELL_GATE):
        check_gradients(cell)


@pytest.mark.covers("lstm-eth-variant")
def test_five_matrices_with_an_identity_are_the_lstm_of_four() -> None:
    eye = torch.eye(H, dtype=torch.float64)
    weights = {"weight_ih": draw(4 * H, D, seed=1), "weight_hh": draw(4 * H, H, seed=2)}
    five = weights | {"weight_ch": eye}
    four_blocks = torch.cat((weights["weight_hh"], weights["weight_ih"]), dim=1).chunk(4)
    assert len([*four_blocks, five["weight_ch"]]) == 5  # F, G, V, H on [h, x], and U on the cell
    state = usual = drawn_state(LSTM)
    for seed in range(5):
        x = draw(2, D, seed=seed)
        state, usual = lstm_mapped_step(x, state, five), lstm_step(x, usual, weights)
        torch.testing.assert_close(state, usual, rtol=0, atol=0)
    other = lstm_mapped_step(draw(2, D), state, five | {"weight_ch": 2 * eye})
    assert not torch.equal(other[0], lstm_step(draw(2, D), usual, weights)[0])


@pytest.mark.covers("gru")
def test_two_conventions_of_the_gru_differ_by_the_sign_of_the_gate_and_the_place_of_the_reset() -> (
    None
):
    weights, state, x = drawn_weights(GRU_RESET_FIRST), drawn_state(GRU), draw(2, D)
    count = sum(weight.numel() for weight in weights.values())
    assert count == 3 * (H * (D + H) + H)
    kept = weights | {"bias_ih": weights["bias_ih"].clone()}
    kept["bias_ih"][H : 2 * H] = -800  # z = 0
    torch.testing.assert_close(gru_reset_first_step(x, state, kept), state, rtol=0, atol=0)

    # With an open reset gate both are one cell, once z is turned into 1 - z.
    weights["bias_ih"][:H] = 800
    turned = {name: weight.clone() for name, weight in weights.items()}
    for weight in turned.values():
        weight[H : 2 * H] *= -1
    published = gru_reset_first_step(x, state, weights)
    torch.testing.assert_close(gru_step(x, state, turned), published, rtol=0, atol=1e-15)
    weights["bias_ih"][:H] = turned["bias_ih"][:H] = 0  # else the place of the reset matters
    assert not torch.allclose(
        gru_step(x, state, turned)[0], gru_reset_first_step(x, state, weights)[0]
    )
    for cell in (GRU, GRU_RESET_FIRST):
        check_gradients(cell)


@pytest.mark.parametrize(("cell", "blocks"), [(ELMAN, 1), (GRU, 3), (LSTM, 4)])
def test_weights_are_counted_by_blocks(cell: Cell, blocks: int) -> None:
    module: Callable[..., nn.Module] | None = cell.fused
    assert module is not None
    wanted = {name: tuple(part.shape) for name, part in module(D, H).named_parameters()}
    assert {f"{name}_l0": shape for name, shape in cell.shapes(D, H).items()} == wanted
    assert sum(math.prod(shape) for shape in wanted.values()) == blocks * (H * (D + H) + 2 * H)
