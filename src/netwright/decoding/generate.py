"""Generating: each chosen token is read in its turn, until one that stops or enough of them.

    logits, state = read(prompt)             once
    logits, state = step(token, state)       a token after the other

What a model knows of the past is its state: a recurrent one's has a fixed size, an attending one's
is the keys and values of all tokens, up to its context. When that is full, the last half of it is
read anew.

Shapes: B batch, T tokens, V kinds of token.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from netwright.core.errors import ConfigError, ShapeError
from netwright.core.seeding import generator
from netwright.decoding.sampling import DecodingConfig, choose

# Tokens (B, T), and their mask (B, T) where some are padding -> logits (B, V) after them, state.
Read = Callable[..., tuple[Tensor, Any]]
Step = Callable[[Tensor, Any], tuple[Tensor, Any]]  # tokens (B,), state -> logits (B, V), state


@torch.no_grad()
def generate(
    read: Read,
    step: Step,
    prompt: Tensor,
    config: DecodingConfig,
    *,
    context: int | None = None,
    attention_mask: Tensor | None = None,
) -> Iterator[Tensor]:
    """The tokens that follow, one a row at a time (B,), each as soon as it is chosen.

    A row that has stopped repeats its stop token until all have.

    Args:
        read: the model reads the beginning.
        step: the model reads one more token.
        prompt: the beginning (B, T), at least one token; of more than the context its last ones.
        config: how tokens are chosen, and when to stop.
        context: how many tokens the model can look back on, padding included; None: any number.
        attention_mask: True or 1 where a token counts (B, T), of prompts of different lengths that
            are padded in front; it is handed to `read`. None: there is no padding.
    """
    if prompt.ndim != 2 or not prompt.numel():
        raise ShapeError(f"prompt must be tokens (B, T), at least one, got {tuple(prompt.shape)}")
    if attention_mask is not None and not reads_mask(read):
        raise ConfigError(
            "attention_mask needs a model that reads it, as GPT does; give this one its prompts "
            "one by one"
        )
    tokens, mask = prompt, attention_mask
    if context is not None:
        tokens, mask = prompt[:, -context:], None if mask is None else mask[:, -context:]
    logits, state = _begin(read, tokens, mask)
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
        mask = _longer(mask)
        if is_full:
            half = max(context // 2, 1)
            tokens, mask = tokens[:, -half:], None if mask is None else mask[:, -half:]
        logits, state = _begin(read, tokens, mask) if is_full else step(chosen, state)


def _begin(read: Read, tokens: Tensor, mask: Tensor | None) -> tuple[Tensor, Any]:
    return read(tokens) if mask is None else read(tokens, mask)


def _longer(mask: Tensor | None) -> Tensor | None:
    """The mask of one more token a row, which counts."""
    return None if mask is None else torch.cat([mask, torch.ones_like(mask[:, :1])], dim=1)


def reads_mask(read: Read | None) -> bool:
    """Whether a model reads tokens with their mask."""
    if read is None:
        return False
    try:
        inspect.signature(read).bind(None, None)
    except TypeError:
        return False
    return True


def without_cache(forward: Callable[..., Tensor]) -> tuple[Read, Step]:
    """`read` and `step` of any model (B, T) -> (B, T, V): all tokens are read again for each.

    With padding the model is given the mask of the tokens, too.
    """

    def read(tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Any]:
        logits = forward(tokens) if mask is None else forward(tokens, mask)
        return logits[:, -1], (tokens, mask)

    def step(tokens: Tensor, before: Any) -> tuple[Tensor, Any]:
        earlier, mask = before
        return read(torch.cat([earlier, tokens[:, None]], dim=1), _longer(mask))

    return read, step
