"""State and Jacobians over time: recurrences whose spectra are known."""

import math
import re
from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ShapeError
from netwright.inspection.inside.state_norms import MOST_SPECTRA, MOST_STEPS, measure_state_norms
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import LSTM
from tests.inspection.drawn import check_sound


def linear(matrix: Tensor) -> Any:
    """s_t = A s_{t-1} + x_t."""

    def step(x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        new = state @ matrix.T + x
        return new, new

    return step


def test_a_linear_recurrence_has_the_spectrum_of_its_matrix_and_of_its_powers() -> None:
    matrix = torch.tensor([[0.5, 1.0], [0.0, 0.25]], dtype=torch.float64)
    inputs = torch.randn(4, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    view = measure_state_norms(linear(matrix), inputs, torch.zeros(1, 2, dtype=torch.float64))
    values = torch.linalg.svdvals(matrix)
    assert view.steps.largest == pytest.approx([float(values[0])] * 4)
    assert view.steps.median == pytest.approx([float(values.median())] * 4)
    powers = [torch.linalg.svdvals(torch.linalg.matrix_power(matrix, 4 - t)) for t in range(4)]
    assert view.to_the_end.largest == pytest.approx([float(one[0]) for one in powers])
    assert view.to_the_end.median == pytest.approx([float(one.median()) for one in powers])
    assert view.rate == pytest.approx(float(powers[0][0]) ** 0.25)
    state, norms = torch.zeros(2, dtype=torch.float64), []
    for x in inputs:
        state = matrix @ state + x
        norms.append(float(state.norm()))
    assert view.norms == pytest.approx(norms)
    assert view.numbers == 2


@pytest.mark.parametrize("rate", [0.9, 1.0, 1.1])
def test_a_change_fades_stays_or_grows_with_the_rate_of_a_turning_state(rate: float) -> None:
    turn = rate * torch.exp(1j * torch.tensor([0.3, 1.2], dtype=torch.float64))  # complex, as LRU

    def step(x: Tensor, state: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        new = turn * state["turning"] + x
        return new.real, {"turning": new}

    start = {"turning": torch.zeros(1, 2, dtype=torch.complex128)}
    view = measure_state_norms(step, torch.ones(50, 1, dtype=torch.float64), start)
    assert view.numbers == 4
    assert (view.places[0], view.places[-1], len(view.places)) == (0, 49, MOST_SPECTRA)
    assert view.to_the_end.largest == pytest.approx([rate ** (50 - t) for t in view.places])
    assert view.to_the_end.median == pytest.approx(view.to_the_end.largest)
    assert view.rate == pytest.approx(rate)


@pytest.mark.covers("rnn-vanishing")
def test_a_contracting_tanh_network_forgets_its_first_input() -> None:
    random = torch.Generator().manual_seed(0)
    weights = torch.randn(16, 16, generator=random, dtype=torch.float64)
    weights *= 0.8 / torch.linalg.matrix_norm(weights, 2)  # the largest singular value is 0.8

    def step(x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        new = (state @ weights.T + x).tanh()
        return new, new

    inputs = torch.randn(100, 16, generator=random, dtype=torch.float64, requires_grad=True)
    state = torch.zeros(1, 16, dtype=torch.float64)
    view = measure_state_norms(step, inputs, state)
    for x in inputs:
        _, state = step(x, state)
    (gradient,) = torch.autograd.grad(state.sum(), inputs)
    sizes = gradient.norm(dim=1)
    assert sizes[0] < 1e-10 * sizes[-1]
    assert max(view.steps.largest) <= 0.8
    # What the product says is a bound on what comes back: an input enters by the state after it.
    place = view.places[1]
    assert float(sizes[place - 1]) <= view.to_the_end.largest[1] * math.sqrt(16)
    assert view.to_the_end.largest[0] < 1e-10


def test_every_tensor_of_a_state_belongs_to_the_jacobian() -> None:
    torch.manual_seed(0)
    stack = RecurrentStack(LSTM, 3, 4, layers=2).double().eval()
    inputs = torch.randn(5, 3, dtype=torch.float64)
    view = measure_state_norms(stack.step, inputs, stack.start(1))
    assert view.numbers == 2 * 2 * 4  # h and c of two layers
    with torch.no_grad():
        _, (hidden, cell) = stack(inputs[None])
    assert view.norms[-1] == pytest.approx(math.hypot(float(hidden.norm()), float(cell.norm())))

    def end(*state: Tensor) -> Tensor:
        now = state
        for x in inputs:
            _, now = stack.step(x[None], now)
        return torch.cat([part.flatten() for part in now])

    rows = torch.func.jacrev(end, argnums=(0, 1))(*stack.start(1))
    whole = torch.cat([row.flatten(1) for row in rows], dim=1)
    expected = float(torch.linalg.matrix_norm(whole.detach(), 2))
    assert view.to_the_end.largest[0] == pytest.approx(expected)


def test_of_a_long_sequence_the_last_steps_are_measured() -> None:
    view = measure_state_norms(linear(torch.eye(1)), torch.ones(500, 1), torch.zeros(1, 1))
    assert view.norms == tuple(float(step + 1) for step in range(MOST_STEPS))


def test_a_state_that_forgets_all_can_be_drawn() -> None:
    view = measure_state_norms(linear(torch.zeros(2, 2)), torch.ones(3, 2), torch.zeros(1, 2))
    assert view.rate == 0
    check_sound(view)


def test_more_than_one_sequence_is_refused() -> None:
    with pytest.raises(ShapeError, match=re.escape("inputs must have shape (T, D), got (1, 3, 2)")):
        measure_state_norms(linear(torch.eye(2)), torch.ones(1, 3, 2), torch.zeros(1, 2))
