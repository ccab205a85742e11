r"""The linear recurrent unit: a diagonal complex state that can neither explode nor forget at once.

    h_t = lambda * h_{t-1} + gamma * (B x_t)        y_t = Re(C h_t) + d * x_t
    lambda = exp(-exp(nu) + i exp(theta))

Almost every dense recurrence z_t = A z_{t-1} + B x_t has this form in the basis of the eigenvectors
of A. The size |lambda| = exp(-exp(nu)) lies in (0, 1) for every nu: whatever training does, the
state stays bounded. At the start the eigenvalues are spread evenly over a ring of the unit disc,
and gamma = sqrt(1 - |lambda|^2) gives a long random input the same size in all channels.

Shapes: B batch, T steps, D inputs and outputs, N complex channels.
Source: Orvieto et al., "Resurrecting Recurrent Neural Networks for Long Sequences" (2023),
section 3 and appendix A.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.errors import ConfigError
from netwright.layers.recurrence.linear_recurrence import LinearRecurrence, at_least_single


def eigenvalues(nu: Tensor, theta: Tensor) -> Tensor:
    """The complex numbers exp(-exp(nu) + i exp(theta))."""
    return torch.polar((-nu.exp()).exp(), theta.exp())


def draw_ring(count: int, r_min: float, r_max: float, max_phase: float) -> tuple[Tensor, Tensor]:
    """The nu and theta (N,) of eigenvalues spread evenly over a ring, or over the slice of one.

    An area grows with the square of the radius: evenly spread are |lambda|^2 and the phase.
    """
    squares = torch.empty(count).uniform_(r_min**2, r_max**2)
    phases = torch.empty(count).uniform_(0, max_phase)
    return (-0.5 * squares.log()).log(), phases.log()


class LinearRecurrentUnit(LinearRecurrence):
    """Complex channels that turn and decay, each at its own pace.

    Args:
        size: D.
        states: N.
        r_min: least |lambda| at the start.
        r_max: largest |lambda| at the start.
        max_phase: largest angle of lambda at the start; a small one means slow waves.
    """

    def __init__(
        self,
        size: int,
        states: int,
        *,
        r_min: float = 0.9,
        r_max: float = 0.999,
        max_phase: float = 2 * math.pi,
    ) -> None:
        super().__init__(size, output_size=size, state_size=states)
        if not 0 <= r_min < r_max < 1:
            raise ConfigError(
                f"r_min and r_max must satisfy 0 <= r_min < r_max < 1, got {r_min!r} and {r_max!r}"
            )
        nu, theta = draw_ring(states, r_min, r_max, max_phase)
        self.nu, self.theta = nn.Parameter(nu), nn.Parameter(theta)
        self.log_gamma = nn.Parameter((1 - eigenvalues(nu, theta).abs().square()).sqrt().log())
        # Complex matrices as real ones: B gives, and C reads, (real, imaginary) pairs.
        self.read_in = nn.Parameter(torch.randn(2 * states, size) * math.sqrt(0.5 / size))
        self.read_back = nn.Parameter(torch.randn(size, 2 * states) * math.sqrt(1 / states))
        self.skip = nn.Parameter(torch.randn(size))

    def eigenvalues(self) -> Tensor:
        """Of this unit: complex, (N,)."""
        return eigenvalues(self.nu, self.theta)

    def start(self, batch: int) -> Tensor:
        """Zeros (B, N, 2): outside, a state is real, as all that is saved and averaged is."""
        return self.nu.new_zeros(batch, self.state_size, 2)

    def forward(
        self, inputs: Tensor, state: Tensor | None = None, lengths: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """(B, T, D) -> (B, T, D), and the last state that counts (B, N, 2)."""
        state = self.start(inputs.shape[0]) if state is None else state
        outputs, state = super().forward(inputs, torch.view_as_complex(state), lengths)
        return outputs, torch.view_as_real(state)

    def step(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """(B, D) and a state (B, N, 2) -> (B, D) and the next state."""
        output, state = super().step(inputs, torch.view_as_complex(state))
        return output, torch.view_as_real(state)

    def coefficients(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """The pair of lambda (N,) and gamma * (B x): (..., D) -> (..., N)."""
        gamma = self.log_gamma.exp().repeat_interleave(2)  # of a real and an imaginary part
        pushed = at_least_single(functional.linear(inputs, gamma[:, None] * self.read_in))
        pairs = pushed.view(*inputs.shape[:-1], self.state_size, 2)
        return self.eigenvalues(), torch.view_as_complex(pairs)

    def read_out(self, states: Tensor, inputs: Tensor) -> Tensor:
        """Re(C h) + d * x: (..., N) and (..., D) -> (..., D)."""
        seen = functional.linear(torch.view_as_real(states).flatten(-2), self.read_back)
        return seen + self.skip * inputs
