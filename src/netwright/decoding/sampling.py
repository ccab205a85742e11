r"""Which token comes next: the likeliest, or one drawn from all, the best k or a nucleus.

    p_v \propto exp(z_v / temperature)        near 0 the likeliest alone, above 1 ever more even

Shapes: B batch, V kinds of token; logits z (B, V).
Source: Ackley, Hinton and Sejnowski, "A Learning Algorithm for Boltzmann Machines" (1985); Fan,
Lewis and Dauphin, "Hierarchical Neural Story Generation" (2018), top-k; Holtzman, Buys, Du, Forbes
and Choi, "The Curious Case of Neural Text Degeneration" (2020), top-p.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.config import Config, Count, Doc, NotNegative, Size

LEAST_DIVISOR = 1e-200  # below, a quotient of float32 logits may be infinite in float64


@dataclass(frozen=True, kw_only=True)
class DecodingConfig(Config):
    """How tokens are chosen, and when to stop."""

    temperature: Annotated[
        NotNegative, Doc("sampling temperature; 0: always the most likely token")
    ] = 0.8
    top_k: Annotated[Size | None, Doc("sample only from this many most likely tokens")] = None
    top_p: Annotated[
        Annotated[float, Interval(gt=0, le=1)] | None,
        Doc("sample only from the smallest set of tokens with this total probability"),
    ] = None
    max_tokens: Annotated[Size, Doc("maximum number of tokens")] = 200
    stop: Annotated[Count | None, Doc("the end-of-sequence token")] = None
    seed: Annotated[Count, Doc("random seed")] = 0
    length_penalty: Annotated[
        float, Doc("of beam search: 0 prefers short texts, 1 compares the mean per token")
    ] = 0.0


def choose(logits: Tensor, config: DecodingConfig, generator: torch.Generator) -> Tensor:
    """One token a row, (B, V) -> (B,); on the CPU, so that a seed draws the same on any device."""
    if config.temperature == 0:  # nothing is drawn: the logits stay where they are
        return logits.detach().argmax(dim=1).cpu()
    logits = logits.detach().to("cpu", torch.float64)
    if config.temperature < LEAST_DIVISOR:  # then the likeliest is 0 / temperature, and finite
        logits = logits - logits.max(dim=1, keepdim=True).values
    logits = logits / config.temperature
    if config.top_k is not None:
        logits = top_k(logits, config.top_k)
    if config.top_p is not None:
        logits = top_p(logits, config.top_p)
    return torch.multinomial(logits.softmax(dim=1), 1, generator=generator)[:, 0]


def top_k(logits: Tensor, k: int) -> Tensor:
    """The k highest logits of each row as they are, the others -inf; (B, V) -> (B, V)."""
    highest = logits.topk(min(k, logits.shape[1]), dim=1)
    return torch.full_like(logits, -torch.inf).scatter(1, highest.indices, highest.values)


def top_p(logits: Tensor, p: float) -> Tensor:
    """The fewest tokens whose probabilities reach p, at least one; the others -inf, (B, V)."""
    sorted_logits, places = logits.sort(dim=1, descending=True, stable=True)
    chances = sorted_logits.softmax(dim=1)
    before = chances.cumsum(dim=1) - chances  # what those have that are likelier
    kept = sorted_logits.masked_fill(before >= p, -torch.inf)
    return torch.full_like(logits, -torch.inf).scatter(1, places, kept)
