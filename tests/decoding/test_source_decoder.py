"""Saying a target greedily: what was said is heard, and nothing comes after the end."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from netwright.decoding.source_decoder import (
    SourceDecoder,
    _say_every_step,
    say_by_beams,
    say_greedily,
)

BEGIN, END, TOKENS = 2, 3, 8


class Countdown(SourceDecoder):
    """Says one less than what it heard, from the source on; after 4 comes the end."""

    def __init__(self) -> None:
        self.heard: list[list[int]] = []

    def read_source(self, source: Tensor) -> Any:
        """The first number is where to begin."""
        return source[:, 0]

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Begin at the state, then count down."""
        self.heard.append(tokens.tolist())
        said = torch.where(tokens == BEGIN, state, tokens - 1)
        return one_hot(said.clamp_min(0), TOKENS).float(), state


def test_each_token_follows_from_the_one_said_before_until_the_end() -> None:
    model = Countdown()
    said = say_greedily(model, torch.tensor([[7, 0], [4, 0]]), 6, begin=BEGIN, end=END)
    assert said.tolist() == [[7, 6, 5, 4, 3, 3], [4, 3, 3, 3, 3, 3]]
    assert model.heard == [[2, 2], [7, 4], [6], [5], [4]]  # who has ended is asked no more


def test_a_device_that_is_not_waited_for_says_the_same() -> None:
    model, source = Countdown(), torch.tensor([[7], [4], [5]])
    begin = torch.tensor([BEGIN] * 3)
    said = _say_every_step(model, begin, model.read_source(source), 6, END)
    assert said.tolist() == say_greedily(Countdown(), source, 6, begin=BEGIN, end=END).tolist()
    assert [len(step) for step in model.heard] == [3] * 6


def test_a_target_may_be_cut_before_its_end() -> None:
    said = say_greedily(Countdown(), torch.tensor([[7]]), 2, begin=BEGIN, end=END)
    assert said.tolist() == [[7, 6]]


def test_by_default_a_model_is_told_the_truth() -> None:
    assert Countdown().teacher_forcing == 1.0


class Tempted(SourceDecoder):
    """Its likeliest first token leads nowhere: 4 then anything, or 5 then surely the end."""

    def read_source(self, source: Tensor) -> Any:
        """Nothing is kept."""
        return source[:, :1]

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """p(4) = 0.6, p(5) = 0.4; after 5 the end, after all else every token alike."""
        chances = torch.full((len(tokens), TOKENS), 1 / TOKENS)
        chances[tokens == BEGIN] = 1e-9
        chances[tokens == BEGIN, 4:6] = torch.tensor([0.6, 0.4])
        chances[tokens == 5] = 1e-9
        chances[tokens == 5, END] = 1.0
        return chances.log(), state


def test_beams_find_what_the_first_choice_misses_and_long_ones_win_by_the_penalty() -> None:
    source, model = torch.tensor([[7], [7]]), Tempted()
    assert say_greedily(model, source, 2, begin=BEGIN, end=END)[:, 0].tolist() == [4, 4]

    def found(beams: int, penalty: float) -> list[list[int]]:
        said = say_by_beams(
            model, source, 2, begin=BEGIN, end=END, beams=beams, length_penalty=penalty
        )
        rows: list[list[int]] = said.tolist()
        return rows

    assert found(2, 0.0) == [[5, END]] * 2
    assert found(1, 0.0)[0][0] == 4
