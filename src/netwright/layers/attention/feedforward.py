"""The position-wise feed-forward network: one hidden layer, the same at every position.

    FFN(x) = phi(x W_1 + b_1) W_2 + b_2
    gated    (phi(x W_g + b_g) * (x W_1 + b_1)) W_2 + b_2

It is a convolution with windows of one position. Parts have GPT-2's names; c_gate is the gate.

Shapes: B batch, T positions, D width, H hidden.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.3; Shazeer, "GLU Variants
Improve Transformer" (2020), for the gate.
"""

from torch import Tensor, nn


class FeedForward(nn.Module):
    """Out to the hidden width and back.

    Args:
        width: D.
        hidden: H; 4 D is usual.
        activation: phi; ReLU in 2017, GELU in GPT-2 and BERT.
        bias: whether the two maps have biases.
    """

    def __init__(
        self, width: int, hidden: int, activation: nn.Module, *, bias: bool = True
    ) -> None:
        super().__init__()
        self.c_fc = nn.Linear(width, hidden, bias=bias)
        self.activation = activation
        self.c_proj = nn.Linear(hidden, width, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        out: Tensor = self.c_proj(self.activation(self.c_fc(x)))
        return out


class GatedFeedForward(FeedForward):
    """The same with a gate: the activation works on a map of its own, which scales the hidden one.

    Args:
        width: D.
        hidden: H; of three matrices 8/3 D is usual, for they then have the weights of two.
        activation: phi; GELU makes it GEGLU.
        bias: whether the three maps have biases.
    """

    def __init__(
        self, width: int, hidden: int, activation: nn.Module, *, bias: bool = True
    ) -> None:
        super().__init__(width, hidden, activation, bias=bias)
        self.c_gate = nn.Linear(width, hidden, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        out: Tensor = self.c_proj(self.activation(self.c_gate(x)) * self.c_fc(x))
        return out
