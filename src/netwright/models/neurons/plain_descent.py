"""Plain descent: a small network learns by Adam's steps on the cross-entropy, with nothing around.

Shapes: N examples.
Source: Kingma and Ba, "Adam: A Method for Stochastic Optimization" (2015).
"""

import torch
from torch import nn

from netwright.core.outputs import logits_of
from netwright.core.seeding import generator, seeded
from netwright.data.dataset import Split
from netwright.optimizers import eager

BATCH, RATE = 32, 1e-2


def descend(model: nn.Module, data: Split, epochs: int, seed: int) -> None:
    """Learn classes in place; chance comes from the seed alone.

    Args:
        model: inputs -> logits.
        data: classes as targets.
        epochs: passes over the examples.
        seed: of the order of the examples, and of what the model draws (dropout).
    """
    optimizer = eager.Adam(model.parameters(), lr=RATE)
    was_training = model.training
    model.train()
    with seeded(seed):
        for epoch in range(epochs):
            order = torch.randperm(len(data), generator=generator(seed, "epoch", epoch))
            # Parts of nearly one size: a last batch of one would stop a batch norm.
            for rows in order.to(data.inputs.device).chunk(-(-len(data) // BATCH)):
                batch = data.take(rows)
                losses = nn.functional.cross_entropy(
                    logits_of(model(batch.inputs)), batch.targets, reduction="none"
                )
                loss = losses.mean() if batch.weights is None else (losses * batch.weights).mean()
                optimizer.zero_grad()
                torch.autograd.backward(loss)
                optimizer.step()
    model.train(was_training)
