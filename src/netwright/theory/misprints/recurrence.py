"""Misprints about recurrent networks and their gates, against torch's own cells."""

import torch
from torch import Tensor, nn
from torch.autograd.functional import jacobian

from netwright.core.seeding import generator
from netwright.theory.misprints.entry import Misprint, Telling

SIZE = 4


def seeded_cell(kind: type[nn.LSTMCell] | type[nn.GRUCell]) -> nn.LSTMCell | nn.GRUCell:
    """The cell of torch with weights of size 1."""
    cell = kind(SIZE, SIZE).double()
    rng = generator(0, "cell")
    with torch.no_grad():
        for weight in cell.parameters():
            weight.copy_(torch.randn(weight.shape, generator=rng))
    return cell


def states(count: int) -> Tensor:
    """Random inputs and states, (count, 1, SIZE)."""
    return torch.randn(count, 1, SIZE, generator=generator(0, "states"), dtype=torch.float64)


@torch.no_grad()
def lstm_step(*, gate_reads_cell: bool = False, squashed: str = "cell") -> float:
    """The largest difference of an LSTM step from torch's.

    Args:
        gate_reads_cell: the output gate reads the new cell in place of the input.
        squashed: what goes through the last tanh: the cell, or the cell times a matrix.
    """
    cell, (x, h, c) = seeded_cell(nn.LSTMCell), states(3)
    wanted, _ = cell(x, (h, c))
    i, f, g, o = (x @ cell.weight_ih.T + h @ cell.weight_hh.T + cell.bias_ih + cell.bias_hh).chunk(
        4, dim=1
    )
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    if gate_reads_cell:
        o = o - x @ cell.weight_ih[-SIZE:].T + c @ cell.weight_ih[-SIZE:].T
    inner = c if squashed == "cell" else c @ cell.weight_hh[-SIZE:].T
    return float((o.sigmoid() * inner.tanh() - wanted).abs().max())


def output_gate() -> Telling:
    """One step, against torch."""
    return Telling(
        what="largest difference from torch's LSTM",
        rule="at most",
        bound=1e-12,
        right=lstm_step(),
        wrong=lstm_step(gate_reads_cell=True),
    )


def output_squash() -> Telling:
    """One step, against torch."""
    return Telling(
        what="largest difference from torch's LSTM",
        rule="at most",
        bound=1e-12,
        right=lstm_step(),
        wrong=lstm_step(squashed="matrix times cell"),
    )


@torch.no_grad()
def gru_candidate() -> Telling:
    """One step of torch's GRU, in which z keeps the old state."""
    cell, (x, h) = seeded_cell(nn.GRUCell), states(2)
    wanted = cell(x, h)
    r_x, z_x, n_x = (x @ cell.weight_ih.T + cell.bias_ih).chunk(3, dim=1)
    r_h, z_h, n_h = (h @ cell.weight_hh.T + cell.bias_hh).chunk(3, dim=1)
    reset, keep = (r_x + r_h).sigmoid(), (z_x + z_h).sigmoid()
    candidate = (n_x + reset * n_h).tanh()
    return Telling(
        what="largest difference from torch's GRU",
        rule="at most",
        bound=1e-12,
        right=float((keep * h + (1 - keep) * candidate - wanted).abs().max()),
        wrong=float((keep * h + (1 - keep) * reset - wanted).abs().max()),
    )


def vanishing_condition() -> Telling:
    """A linear recurrence over 50 steps, with its largest singular value at 0.9 and at 1.1."""
    drawn = torch.randn(8, 8, generator=generator(0, "recurrence"), dtype=torch.float64)
    turn = torch.linalg.qr(drawn).Q  # every singular value is 1

    def grown(singular: float) -> float:
        return float(torch.linalg.matrix_norm(torch.linalg.matrix_power(singular * turn, 50), 2))

    return Telling(
        what="norm of the Jacobian over 50 steps, where it is said to vanish",
        rule="at most",
        bound=1e-2,
        right=grown(0.9),
        wrong=grown(1.1),
    )


def order_of_inputs() -> Telling:
    """The inputs (1, 0) and (0, 1) through h <- tanh(x + h / 2)."""

    def read(inputs: list[float]) -> float:
        state = torch.zeros((), dtype=torch.float64)
        for x in inputs:
            state = (x + state / 2).tanh()
        return float(state)

    def added(inputs: list[float]) -> float:
        return read([sum(inputs)])

    return Telling(
        what="difference of the last states after (1, 0) and after (0, 1)",
        rule="at least",
        bound=0.1,
        right=abs(read([1.0, 0.0]) - read([0.0, 1.0])),
        wrong=abs(added([1.0, 0.0]) - added([0.0, 1.0])),
    )


def product_order() -> Telling:
    """Two steps of a tanh network, whose matrices do not commute with the slopes."""
    rng = generator(0, "product")
    weights = torch.randn(SIZE, SIZE, generator=rng, dtype=torch.float64)
    first = torch.randn(SIZE, generator=rng, dtype=torch.float64)

    def two_steps(h: Tensor) -> Tensor:
        return (weights @ (weights @ h).tanh()).tanh()

    wanted = jacobian(two_steps, first)  # type: ignore[no-untyped-call]
    middle = (weights @ first).tanh()
    earlier, later = ((1 - state.square()).diag() for state in (middle, (weights @ middle).tanh()))
    return Telling(
        what="largest difference from the Jacobian by autograd",
        rule="at most",
        bound=1e-12,
        right=float((later @ weights @ earlier @ weights - wanted).abs().max()),
        wrong=float((earlier @ weights @ later @ weights - wanted).abs().max()),
    )


RECURRENCE = (
    Misprint(
        name="recurrence-of-inputs",
        topic="Recurrence",
        right=r"h_t = g(x_t, x_{t-1}, \ldots, x_1)",
        wrong=r"h_t = g(x_t + x_{t-1} + \cdots + x_1)",
        difference="The state is a function of all inputs in their order, not of their sum.",
        experiment=order_of_inputs,
    ),
    Misprint(
        name="vanishing-condition",
        topic="Recurrence",
        right=r"\sigma_1(U) < \frac{1}{\alpha} \;\Rightarrow\; \text{gradients vanish}",
        wrong=r"\sigma_1(U) \geq \frac{1}{\alpha} \;\Rightarrow\; \text{gradients vanish}",
        difference="They vanish where every step shrinks; above that they can explode.",
        experiment=vanishing_condition,
    ),
    Misprint(
        name="jacobian-product-order",
        topic="Recurrence",
        right=r"\frac{\partial h_i}{\partial h_t} = \Phi_i U \, \Phi_{i-1} U \cdots \Phi_{t+1} U",
        wrong=r"\frac{\partial h_i}{\partial h_t} = \Phi_{t+1} U \, \Phi_{t+2} U \cdots \Phi_i U",
        difference="The last step stands on the left; matrices do not commute.",
        experiment=product_order,
    ),
    Misprint(
        name="lstm-output-gate",
        topic="Recurrence",
        right=r"o_t = \sigma(W_o [h_{t-1}, x_t] + b_o)",
        wrong=r"o_t = \sigma(W_o [h_{t-1}, C_t] + b_o)",
        difference="The gate reads the input; only peephole variants also read the cell.",
        experiment=output_gate,
    ),
    Misprint(
        name="lstm-output",
        topic="Recurrence",
        right=r"h_t = o_t \odot \tanh(C_t)",
        wrong=r"h_t = o_t \odot \tanh(U C_t)",
        difference="The cell is squashed as it is, with no matrix before it.",
        experiment=output_squash,
    ),
    Misprint(
        name="gru-candidate",
        topic="Recurrence",
        right=r"h_t = z_t \odot h_{t-1} + (1 - z_t) \odot \tilde h_t",
        wrong=r"h_t = z_t \odot h_{t-1} + (1 - z_t) \odot r_t",
        difference="The new state is mixed from the old one and the candidate, not the reset gate.",
        experiment=gru_candidate,
    ),
)
