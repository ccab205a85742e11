r"""Recurrences that say a target while they look at a source: never, before or after each step.

    without attention   s_i = f(s_{i-1}, y_{i-1}),               read out: s_i
    look before (1)     c_i = attend(s_{i-1}),  s_i = f(s_{i-1}, [y_{i-1}, c_i])
    look after  (2)     s_i = f(s_{i-1}, y_{i-1}),  c_i = attend(s_i)
                                                                 read out: tanh(W [s_i, c_i])
    attend(s) = sum_j alpha_j h_j,    alpha = softmax_j a(s, h_j)

Who looks after a step looks for all steps at once where the target is known; who looks before needs
the state first, and goes step by step.

Shapes: B batch, T target steps, S source places, D inputs, H units.
Source: (1) Bahdanau, Cho and Bengio (2015), section 3; (2) Luong, Pham and Manning (2015),
section 3.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from netwright.layers.attention.attention import masked_softmax
from netwright.layers.attention.attention_scores import Score
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import States


class Memory(NamedTuple):
    """What was read of a source.

    Args:
        places: an encoder's output at each place (B, S, H).
        mask: True where there is a token and not padding, (B, 1, S).
    """

    places: Tensor
    mask: Tensor


class Decoded(NamedTuple):
    """What a decoder makes of some steps.

    Args:
        features: what tokens are read out from (B, T, H).
        weights: of the source places at each step (B, T, S); None without attention.
        state: after the last step.
    """

    features: Tensor
    weights: Tensor | None
    state: States


class AttentiveDecoder(nn.Module, ABC):
    """The abstract kind.

    Args:
        recurrence: from left to right; its outputs are H wide.
    """

    def __init__(self, recurrence: RecurrentStack) -> None:
        super().__init__()
        self.recurrence = recurrence

    @abstractmethod
    def forward(self, inputs: Tensor, state: States, memory: Memory) -> Decoded:
        """(B, T, D), the state before and the source -> what is said at each step."""


class WithoutAttention(AttentiveDecoder):
    """All that it knows of the source is the state in which it begins."""

    def forward(self, inputs: Tensor, state: States, memory: Memory) -> Decoded:
        """All steps at once."""
        outputs, state = self.recurrence(inputs, state)
        return Decoded(outputs, None, state)


class LookingDecoder(AttentiveDecoder):
    """The abstract kind with attention: what is found is mixed with the recurrence's output.

    Args:
        recurrence: from left to right; its outputs are H wide.
        score: of a state and a place of the source.
    """

    def __init__(self, recurrence: RecurrentStack, score: Score) -> None:
        super().__init__(recurrence)
        self.score = score
        self.mix = nn.Linear(recurrence.output_size + score.key_size, recurrence.output_size)

    def look(self, queries: Tensor, memory: Memory) -> Tensor:
        """(B, T, H) -> the share of each place of the source, (B, T, S)."""
        return masked_softmax(self.score(queries, memory.places), memory.mask)

    def read_out(self, outputs: Tensor, contexts: Tensor) -> Tensor:
        """What tokens are read out from: the two (B, T, H), mixed."""
        return torch.tanh(self.mix(torch.cat((outputs, contexts), dim=-1)))


class LookBefore(LookingDecoder):
    """The state before a step looks, and what it finds goes into the step beside the input."""

    def forward(self, inputs: Tensor, state: States, memory: Memory) -> Decoded:
        """One step after the other."""
        steps = []
        for told in inputs.unbind(1):
            weights = self.look(state[0][:, -1:], memory)  # (B, 1, S): the top layer asks
            context = (weights @ memory.places)[:, 0]
            output, state = self.recurrence.step(torch.cat((told, context), dim=1), state)
            steps.append((output, context, weights[:, 0]))
        outputs, contexts, weights = (torch.stack(part, dim=1) for part in zip(*steps, strict=True))
        return Decoded(self.read_out(outputs, contexts), weights, state)


class LookAfter(LookingDecoder):
    """The state after a step looks, and what it finds is read out beside it."""

    def forward(self, inputs: Tensor, state: States, memory: Memory) -> Decoded:
        """All steps at once."""
        outputs, state = self.recurrence(inputs, state)
        weights = self.look(outputs, memory)  # (B, T, S)
        return Decoded(self.read_out(outputs, weights @ memory.places), weights, state)
