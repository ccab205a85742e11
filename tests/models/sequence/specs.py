"""Small data of each kind that models of sequences read, and a loop that trains on it."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from netwright.data.spec import DataSpec

SPECS = {
    "tokens": DataSpec(
        inputs="tokens", input_shape=(6,), target="tokens", num_outputs=5, vocab_size=5
    ),
    "text": DataSpec(
        inputs="tokens", input_shape=(6,), target="class", num_outputs=3, vocab_size=5, padding=0
    ),
    "tags": DataSpec(
        inputs="tokens", input_shape=(6,), target="tags", num_outputs=3, vocab_size=5, padding=0
    ),
    "series": DataSpec(inputs="series", input_shape=(6, 2), target="real", num_outputs=2),
}


def series(steps: int, features: int, outputs: int = 1) -> DataSpec:
    """A spec of series with real targets."""
    return DataSpec(
        inputs="series", input_shape=(steps, features), target="real", num_outputs=outputs
    )


def train(
    model: nn.Module,
    batch: Callable[[torch.Generator], tuple[Tensor, Tensor]],
    loss: Callable[[Tensor, Tensor], Tensor],
    *,
    steps: int,
    lr: float = 0.01,
) -> None:
    """Adam on batches that are drawn anew, then eval mode."""
    numbers = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    model.train()
    for _ in range(steps):
        inputs, targets = batch(numbers)
        optimizer.zero_grad()
        torch.autograd.backward(loss(model(inputs), targets))
        optimizer.step()
    model.eval()
