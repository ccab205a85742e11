r"""Beam search: the best W beginnings are all carried on, and the best whole sequence is taken.

    score(y) = \frac{1}{|y|^\alpha} \sum_t \log p(y_t | y_{<t})

Of all one-token longer versions of the W beginnings the best W stay. W = 1 is greedy; with as many
beams as there are sequences nothing is ever dropped, and the best one is found for certain.

Shapes: B batch, W beams, T tokens, V kinds of token.
Source: Lowerre, "The Harpy Speech Recognition System" (1976); Wu et al., "Google's Neural Machine
Translation System" (2016), section 7, the length penalty.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from netwright.core.checks import is_finite_number
from netwright.core.errors import ConfigError
from netwright.core.trees import map_tensors
from netwright.decoding.generate import Step

MOST_BEAMS = 1000  # of a text: each holds a probability of every token


class Beams(NamedTuple):
    """The sequences that were found, best first.

    Args:
        tokens: (B, W, T), after a stop token only that again.
        lengths: tokens up to the stop token, itself included (B, W).
        scores: (B, W); -inf where there are fewer sequences than beams: that one is none.
    """

    tokens: Tensor
    lengths: Tensor
    scores: Tensor


@torch.no_grad()
def beam_search(
    logits: Tensor,
    state: Any,
    step: Step,
    *,
    width: int,
    max_tokens: int,
    stop: int | None = None,
    length_penalty: float = 0.0,
) -> Beams:
    """The likeliest continuations that a beam finds.

    Args:
        logits: of the first token (B, V).
        state: the model's after what came before, a tree of tensors with the batch first.
        step: the model reads one more token.
        width: W.
        max_tokens: T at most.
        stop: the token that ends a sequence.
        length_penalty: alpha; 0 compares log-probabilities, of which a longer sequence has less,
            1 their mean a token.
    """
    for name, value in (("width", width), ("max_tokens", max_tokens)):
        if value < 1:
            raise ConfigError(f"{name} must be at least 1, got {value}")
    search = _Search(logits, width, stop, length_penalty)
    search.extend(logits.repeat_interleave(width, dim=0))
    state = map_tensors(lambda tensor: tensor.repeat_interleave(width, dim=0), state)
    while search.tokens.shape[2] < max_tokens and not bool(search.ended.all()):
        state = map_tensors(search.of_origin, state)
        logits, state = step(search.tokens[:, :, -1].flatten(), state)
        search.extend(logits)
    return Beams(search.tokens, search.lengths, search.scores())


def check_beams(beams: int, length_penalty: float = 0.0) -> None:
    """Refuse a number of beams, or a length penalty, that no search has."""
    if type(beams) is not int:
        raise ConfigError(f"beams must be a whole number, got {beams!r:.40}")
    if not 1 <= beams <= MOST_BEAMS:
        raise ConfigError(f"beams must be from 1 to {MOST_BEAMS}, got {beams}")
    if not is_finite_number(length_penalty):
        raise ConfigError(f"length_penalty must be finite, got {length_penalty!r:.40}")


class _Search:
    """The beams so far; one that has ended keeps its place as long as its score is good enough."""

    def __init__(self, logits: Tensor, width: int, stop: int | None, penalty: float) -> None:
        batch, device = len(logits), logits.device
        self.stop, self.penalty, self.width = stop, penalty, width
        self.tokens = torch.empty(batch, width, 0, dtype=torch.int64, device=device)
        self.lengths = torch.zeros(batch, width, dtype=torch.int64, device=device)
        self.ended = torch.zeros(batch, width, dtype=torch.bool, device=device)
        # All beams begin alike: but for one they are impossible, or each would be found W times.
        self.log_chances = torch.full((batch, width), -torch.inf, device=device).double()
        self.log_chances[:, 0] = 0
        self.rows = torch.arange(batch * width, device=device)

    def scores(self) -> Tensor:
        """Of the beams as they are (B, W)."""
        return self.log_chances / self.lengths.double() ** self.penalty

    def of_origin(self, tensor: Tensor) -> Tensor:
        """Of each beam the row (B W, ...) of the beam that it came from."""
        return tensor.index_select(0, self.rows)

    def extend(self, logits: Tensor) -> None:
        """Keep the best W of all longer versions; `rows` says which beam each came from."""
        batch, kinds = len(self.tokens), logits.shape[1]
        steps = logits.double().log_softmax(dim=1).view(batch, self.width, kinds)
        if self.stop is not None:  # what has ended goes on for free, in one way
            steps = steps.masked_fill(self.ended[:, :, None], -torch.inf)
            steps[:, :, self.stop] = steps[:, :, self.stop].masked_fill(self.ended, 0)
        log_chances = self.log_chances[:, :, None] + steps  # (B, W, V)
        lengths = self.lengths + ~self.ended
        scores = log_chances / lengths.double()[:, :, None] ** self.penalty
        best = scores.flatten(1).topk(self.width, dim=1).indices  # (B, W)
        origins, chosen = best // kinds, best % kinds
        self.log_chances = log_chances.flatten(1).gather(1, best)
        self.lengths = lengths.gather(1, origins)
        self.ended = self.ended.gather(1, origins)
        if self.stop is not None:
            self.ended = self.ended | (chosen == self.stop)
        before = self.tokens.gather(1, origins[:, :, None].expand(-1, -1, self.tokens.shape[2]))
        self.tokens = torch.cat([before, chosen[:, :, None]], dim=2)
        first = self.width * torch.arange(batch, device=best.device)[:, None]
        self.rows = (first + origins).flatten()
