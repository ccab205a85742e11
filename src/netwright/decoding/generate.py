"""Generating: each chosen token is read in its turn, until one that stops or enough of them.

    logits, state = read(prompt)             once
    logits, state = step(token, state)       a token after the other

What a model knows of the past is its state: a recurrent one's has a fixed size, an attending one's
is the keys and values of all tokens, up to its context. When that is full, the last half of it is
read anew.

Shapes: B batch, T tokens, V kinds of token.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from netwright.core.errors import ShapeError
from netwright.core.seeding import generator
from netwright.decoding.sampling import DecodingConfig, choose

Read = Callable[[Tensor], tuple[Tensor, Any]]  # tokens (B, T) -> logits (B, V) after them, state
Step = Callable[[Tensor, Any], tuple[Tensor, Any]]  # tokens (B,), state -> logits (B, V), state


@torch.no_grad()
def generate(
    read: Read, step: Step, prompt: Tensor, config: DecodingConfig, *, context: int | None = None
) -> Iterator[Tensor]:
    """The tokens that follow, one a row at a time (B,), each as soon as it is chosen.

    A row that has stopped repeats its stop token until all have.

    Args:
        read: the model reads the beginning.
        step: the model reads one more token.
        prompt: the beginning (B, T), at least one token; of more than the context its last ones.
        config: how tokens are chosen, and when to stop.
        context: how many tokens the model can look back on; None: any number.
    """
    if prompt.ndim != 2 or not prompt.numel():
        raise ShapeError(f"prompt must be tokens (B, T), at least one, got {tuple(prompt.shape)}")
    tokens = prompt if context is None else prompt[:, -context:]
    logits, state = read(tokens)
    random = generator(config.seed, "generate")
    ended = torch.zeros(len(prompt), dtype=torch.bool)
    for count in range(1, config.max_tokens + 1):
        chosen = choose(logits, config, random)
        if config.stop is not None:
            chosen = chosen.masked_fill(ended, config.stop)
            ended = ended | (chosen == config.stop)
        yield chosen
        if count == config.max_tokens or bool(ended.all()):
            return
        chosen = chosen.to(prompt.device)
        if context is None:
            logits, state = step(chosen, state)
            continue
        is_full = tokens.shape[1] == context
        tokens = torch.cat([tokens, chosen[:, None]], dim=1)
        if is_full:
            tokens = tokens[:, -max(context // 2, 1) :]
        logits, state = read(tokens) if is_full else step(chosen, state)


def without_cache(forward: Callable[[Tensor], Tensor]) -> tuple[Read, Step]:
    """`read` and `step` of any model (B, T) -> (B, T, V): all tokens are read again for each."""

    def read(tokens: Tensor) -> tuple[Tensor, Tensor]:
        return forward(tokens)[:, -1], tokens

    def step(tokens: Tensor, before: Tensor) -> tuple[Tensor, Tensor]:
        return read(torch.cat([before, tokens[:, None]], dim=1))

    return read, step
