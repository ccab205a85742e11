"""Add and norm: what a part of a block makes is added to what it was given, and normalised.

    pre-norm    x + part(norm(x))         post-norm    norm(x + part(x))

Pre-norm leaves a path from the last block to the first on which nothing is normalised: deep stacks
train without warm-up.

Shapes: B batch, T positions, D width.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.1; Xiong et al., "On Layer
Normalization in the Transformer Architecture" (2020).
"""

from collections.abc import Callable

from torch import Tensor, nn

Norm = Callable[[int], nn.Module]  # width -> a norm of the last dimension


class AddAndNorm(nn.Module):
    """What blocks are made of; each holds its norms and its parts by names of its own.

    Args:
        pre_norm: whether the norms come before their parts, or after the sums.
        dropout: share of what is added that is dropped while training.
    """

    def __init__(self, *, pre_norm: bool, dropout: float) -> None:
        super().__init__()
        self.pre_norm = pre_norm
        self.drop = nn.Dropout(dropout)

    def seen(self, x: Tensor, norm: nn.Module) -> Tensor:
        """What a part is given of x, (B, T, D)."""
        given: Tensor = norm(x) if self.pre_norm else x
        return given

    def added(self, x: Tensor, made: Tensor, norm: nn.Module) -> Tensor:
        """X and what the part made of it, (B, T, D)."""
        total: Tensor = x + self.drop(made)
        if not self.pre_norm:
            total = norm(total)
        return total
