"""A model that reads a source whole, then says its target token by token: translation and its kin.

    state = model.read_source(source)
    logits, state = model.step(begin, state)        of the first token; then of each said one

Shapes: B batch, S source tokens, T target tokens, V different target tokens.
Source: Sutskever, Vinyals and Le, "Sequence to Sequence Learning with Neural Networks" (2014).
"""

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor

from netwright.core.trees import take_rows
from netwright.decoding.beam_search import beam_search


class SourceDecoder(ABC):
    """What decoding needs of such a model; mixed into an `nn.Module`.

    Args:
        teacher_forcing: while training, the probability with which a step is told the true token
            before it; else it hears what the model itself said (scheduled sampling). Evaluation
            always tells the truth, so that losses can be compared.
    """

    teacher_forcing: float = 1.0

    @abstractmethod
    def read_source(self, source: Tensor) -> Any:
        """(B, S) -> the state before the first token: a tree with the batch first."""

    @abstractmethod
    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """The token before (B,) and a state -> logits of the next (B, V) and the next state."""


def say_greedily(
    model: SourceDecoder, source: Tensor, length: int, *, begin: int, end: int
) -> Tensor:
    """The likeliest token at each step, which the model then hears itself say: (B, T).

    What comes after the end of a row is `end` again. On the CPU a row that has ended takes no part
    in further steps; on other devices all T are made, as to ask who has ended is to wait for them.

    Args:
        model: says the tokens.
        source: (B, S).
        length: T, how many tokens are said.
        begin: the token before the first.
        end: the token that ends a target.
    """
    state = model.read_source(source)
    said = source.new_full((len(source),), begin)
    say = _say_without_ended if source.device.type == "cpu" else _say_every_step
    return say(model, said, state, length, end)


def _say_every_step(
    model: SourceDecoder, said: Tensor, state: Any, length: int, end: int
) -> Tensor:
    ended = torch.zeros_like(said, dtype=torch.bool)
    tokens = []
    for _ in range(length):
        logits, state = model.step(said, state)
        said = logits.argmax(dim=1).masked_fill(ended, end)
        ended = ended | (said == end)
        tokens.append(said)
    return torch.stack(tokens, dim=1)


def _say_without_ended(
    model: SourceDecoder, said: Tensor, state: Any, length: int, end: int
) -> Tensor:
    tokens = said.new_full((len(said), length), end)
    going = torch.arange(len(said))
    for place in range(length):
        logits, state = model.step(said, state)
        said = logits.argmax(dim=1)
        tokens[going, place] = said
        goes_on = said != end
        if not goes_on.any():
            break
        if not goes_on.all():
            going, said, state = take_rows((going, said, state), goes_on)
    return tokens


def say_by_beams(
    model: SourceDecoder,
    source: Tensor,
    length: int,
    *,
    begin: int,
    end: int,
    beams: int,
    length_penalty: float,
) -> Tensor:
    """The best target that a beam search finds for each source: (B, at most T).

    Args:
        model: says the tokens.
        source: (B, S).
        length: T, how many tokens are said at most.
        begin: the token before the first.
        end: the token that ends a target.
        beams: how many beginnings are carried on.
        length_penalty: alpha of `beam_search`; 1 compares the mean a token.
    """
    state = model.read_source(source)
    logits, state = model.step(source.new_full((len(source),), begin), state)
    found = beam_search(
        logits,
        state,
        model.step,
        width=beams,
        max_tokens=length,
        stop=end,
        length_penalty=length_penalty,
    )
    return found.tokens[:, 0]
