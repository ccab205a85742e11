"""Saying a target greedily: what was said is heard, and nothing comes after the end."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from netwright.decoding.source_decoder import SourceDecoder, say_greedily

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
    assert model.heard == [[2, 2], [7, 4], [6, 3], [5, 3], [4, 3], [3, 3]]


def test_a_target_may_be_cut_before_its_end() -> None:
    said = say_greedily(Countdown(), torch.tensor([[7]]), 2, begin=BEGIN, end=END)
    assert said.tolist() == [[7, 6]]


def test_by_default_a_model_is_told_the_truth() -> None:
    assert Countdown().teacher_forcing == 1.0
